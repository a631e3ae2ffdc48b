"""What only a real GPU can show."""
from __future__ import annotations

import os

import numpy
import pytest

import cupy

ak = pytest.importorskip('awkward')
pytestmark = pytest.mark.gpu


def test_the_gpu_is_used():
    name = cupy.cuda.runtime.getDeviceProperties(0)['name'].decode()
    host = os.environ.get('CUPY_DEVICE') == 'host'
    assert name.startswith('CuPy host device') == host


@pytest.mark.parametrize('name', ['sqrt', 'floor', 'negative', 'square'])
def test_exact_functions_equal_numpy(name):
    x = numpy.random.default_rng(1).random(100_000)
    actual = getattr(cupy, name)(cupy.asarray(x))
    assert (actual.get() == getattr(numpy, name)(x)).all()


def test_lists_equal_the_cpu_backend():
    lists = ak.unflatten(numpy.linspace(1, 2, 9_000), 3)
    device = ak.to_backend(lists, 'cuda')
    for name in 'sqrt', 'sin', 'exp', 'log':
        actual = getattr(cupy, name)(device)
        assert ak.backend(actual) == 'cuda'
        assert ak.almost_equal(ak.to_backend(actual, 'cpu'),
                               getattr(numpy, name)(lists), rtol=1e-14)
