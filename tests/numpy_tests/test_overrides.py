"""NumPy's own tests of overrides, with CuPy in NumPy's place."""
from __future__ import annotations

import pytest

import cupy

import numpy_adaptations
import numpy_source

CASES = [
    pytest.param(cls, name, id=f'{cls.name}-{name}')
    for cls in numpy_adaptations.CLASSES if numpy_source.path(cls.module)
    for name in numpy_source.tests_of(cls.module, cls.name)
    if name not in numpy_adaptations.NOT_APPLICABLE]


@pytest.mark.parametrize('cls', numpy_adaptations.CLASSES)
def test_numpy_has_the_tests(cls):
    if numpy_source.path(cls.module) is None:
        pytest.skip(f'the installed NumPy has no {cls.module}')
    assert numpy_source.tests_of(cls.module, cls.name)


@pytest.mark.parametrize('cls, name', CASES)
def test_cupy_as_numpy(cls, name):
    _check_needs(name)
    test = getattr(_load(cls, name), name)
    if name not in numpy_adaptations.DIFFERENCES:
        test()
        return
    error, text, _ = numpy_adaptations.DIFFERENCES[name]
    with pytest.raises(error, match=text):
        test()


def _check_needs(name):
    if (name in numpy_adaptations.NEED_DEVICE
            and not cupy.cuda.is_available()):
        pytest.skip('needs a GPU, or the host device: CUPY_DEVICE=host')
    if (name in numpy_adaptations.NEED_CUBLAS
            and not numpy_adaptations.has_cublas()):
        pytest.skip('needs cuBLAS')


def _load(cls, name):
    return numpy_source.load(
        cls.module, cls.name, [
            x for x in numpy_adaptations.ADAPTATIONS if x.test == name],
        cls.whole_module, numpy_adaptations.STAND_INS)
