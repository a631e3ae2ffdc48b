"""Says clearly which of NVIDIA's libraries the host device does not have.

CuPy imports its wrappers of these libraries when they are first needed.
Without this, the message would be about a file that is not installed, and
with the file installed it would come from deep inside of it.
"""
from __future__ import annotations

import re
from types import ModuleType
from typing import Any

_LIBRARIES = {
    'cublas': 'cuBLAS (matrix products, most of cupy.linalg)',
    'cusolver': 'cuSOLVER (decompositions of cupy.linalg)',
    'cusparse': 'cuSPARSE (products and conversions of sparse matrices)',
    'cusparselt': 'cuSPARSELt',
    'cufft': 'cuFFT (cupy.fft)',
    'cutensor': 'cuTENSOR',
    'jitify': 'Jitify (RawKernel with jitify=True)',
}


_ALGORITHM = re.compile('Device(.+?)(?:BuildResult)?')


class NotOnHostDevice(ImportError, NotImplementedError):
    """A library of NVIDIA's has no counterpart on the host device."""


def hide_libraries(package: ModuleType) -> None:
    """Makes lookups of wrappers in a package raise.

    Args:
        package: ``cupy.cuda`` or ``cupy_backends.cuda.libs``; both import
            their submodules from a module-level ``__getattr__``.

    Raises:
        NotOnHostDevice: Later, when a wrapper is looked up.
    """
    found = package.__dict__['__getattr__']

    def __getattr__(name: str) -> Any:
        library = _LIBRARIES.get(name)
        if library is not None:
            raise NotOnHostDevice(
                f'{library} is not implemented on the host device',
                name=f'{package.__name__}.{name}')
        return found(name)

    package.__dict__['__getattr__'] = __getattr__


def refuse_jitify(module: ModuleType) -> None:
    """Makes Jitify raise when it is used.

    It contains the CUDA runtime, which asks a GPU for its architecture.

    Args:
        module: ``cupy.cuda.jitify``, which CuPy itself imports.

    Raises:
        NotOnHostDevice: Later, when a kernel is compiled with it.
    """
    def _init_module() -> None:
        raise NotOnHostDevice(
            f'{_LIBRARIES["jitify"]} is not implemented on the host device; '
            'leave jitify=True out', name='cupy.cuda.jitify')
    module.__dict__['_init_module'] = _init_module


def refuse_algorithms(bindings: ModuleType) -> None:
    """Makes the algorithms of ``cuda.compute`` raise when they are built.

    They are compiled to machine code for a real GPU; when loading that
    fails, the library behind the bindings frees memory twice.

    Args:
        bindings: ``cuda.compute._bindings``; each algorithm is built by
            instantiating a class of its own.

    Raises:
        NotOnHostDevice: Later, when an algorithm is built.
    """
    for name, kind in list(vars(bindings).items()):
        match = _ALGORITHM.fullmatch(name)
        if match is not None and isinstance(kind, type):
            setattr(bindings, name, _refusing(match[1], kind))


def _refusing(algorithm: str, kind: type) -> type:
    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise NotOnHostDevice(
            f'the {algorithm} algorithm of cuda.compute is not implemented '
            'on the host device: it compiles to machine code for a GPU',
            name='cuda.compute')
    # A subclass: isinstance tests and the class methods stay as they are.
    return type(kind.__name__, (kind,), {'__new__': __new__})
