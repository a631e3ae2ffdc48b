"""Libraries without a counterpart: the message names them."""
from __future__ import annotations

import types

import pytest

from cupy_backends.host.runtime import missing


@pytest.fixture
def package() -> types.ModuleType:
    module = types.ModuleType('cupy_backends.cuda.libs')

    def __getattr__(name: str) -> str:
        if name == 'unknown':
            raise AttributeError(name)
        return f'module {name}'

    module.__dict__['__getattr__'] = __getattr__
    missing.hide_libraries(module)
    return module


@pytest.mark.parametrize('name, text', [
    ('cublas', 'cuBLAS'), ('cusolver', 'cuSOLVER'), ('cufft', 'cupy.fft'),
    ('cusparse', 'cuSPARSE'), ('cutensor', 'cuTENSOR')])
def test_lookup_names_the_library(
        package: types.ModuleType, name: str, text: str) -> None:
    with pytest.raises(missing.NotOnHostDevice, match=text) as caught:
        getattr(package, name)
    assert caught.value.name == f'cupy_backends.cuda.libs.{name}'


def test_callers_may_catch_either_kind() -> None:
    # CuPy takes an ImportError for the absence of an optional library.
    assert issubclass(missing.NotOnHostDevice, ImportError)
    assert issubclass(missing.NotOnHostDevice, NotImplementedError)


def test_other_names_are_left_alone(package: types.ModuleType) -> None:
    assert package.nvrtc == 'module nvrtc'
    # CuPy itself copes without it.
    assert package.nccl == 'module nccl'
    with pytest.raises(AttributeError, match='unknown'):
        getattr(package, 'unknown')  # NOQA: B009


@pytest.mark.parametrize('name, algorithm', [
    ('DeviceReduceBuildResult', 'Reduce'),
    ('DeviceUnaryTransform', 'UnaryTransform')])
def test_algorithms_are_refused_before_they_are_built(
        name: str, algorithm: str) -> None:
    class Build:
        def __init__(self, size: int) -> None:
            raise AssertionError('built')

    bindings = types.ModuleType('cuda.compute._bindings')
    bindings.__dict__.update({name: Build, 'Op': int, 'Determinism': str})
    missing.refuse_algorithms(bindings)
    refused = getattr(bindings, name)
    with pytest.raises(missing.NotOnHostDevice,
                       match=f'the {algorithm} algorithm'):
        refused(3)
    assert issubclass(refused, Build)
    assert bindings.Op is int and bindings.Determinism is str


def test_jitify_is_refused_when_it_is_used() -> None:
    module = types.ModuleType('cupy.cuda.jitify')
    missing.refuse_jitify(module)
    with pytest.raises(missing.NotOnHostDevice, match='Jitify .* leave'):
        module._init_module()
