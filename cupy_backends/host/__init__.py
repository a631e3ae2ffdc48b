"""The host device: runs CuPy's kernels on the CPU, for machines without GPU.

It implements the part of the CUDA driver and runtime API that CuPy uses and
translates PTX to machine code.  ``CUPY_DEVICE=host`` in the environment
selects it when CuPy is imported.

This package imports nothing from CuPy.
"""
from __future__ import annotations

import os
import sys
from types import ModuleType

_active = False


def is_active() -> bool:
    """Returns whether the host device serves this process."""
    return _active


def activate() -> None:
    """Makes the host device this process's CUDA device.

    To be called before anything loads CUDA's driver library and before CuPy
    is imported.  Calling it again does nothing.

    Raises:
        ImportError: The libraries of the host device are not there, or
            llvmlite is missing.
        RuntimeError: CUDA's driver library is loaded already.
    """
    global _active
    if _active:
        return
    _check_platform()
    _check_not_imported()
    # Here, so that importing this package costs nothing.
    from cupy_backends.host.runtime import library
    from cupy_backends.host.runtime import numba_kernels
    loaded = library.load()
    _register_translator(loaded)
    _configure_cupy()
    _install_finder()
    numba_kernels.tell_numba()
    _active = True


def _check_platform() -> None:
    if sys.platform != 'linux':
        raise ImportError(
            f'the host device runs on Linux only, not on {sys.platform}')


def _check_not_imported() -> None:
    """CuPy's modules bind to the driver when they are imported."""
    if 'cupy_backends.cuda.api.runtime' in sys.modules:
        raise RuntimeError(
            'the host device must be activated before CuPy is imported; '
            'set CUPY_DEVICE=host in the environment instead')


def _register_translator(library: object) -> None:
    try:
        from cupy_backends.host.runtime import bridge
    except ModuleNotFoundError as error:
        if error.name != 'llvmlite':
            raise
        raise ImportError(
            'the host device needs llvmlite to compile kernels; install it '
            'with: pip install llvmlite') from error
    _check_llvmlite()
    global _translator
    _translator = bridge.Translator(library)  # type: ignore[arg-type]
    _translator.register()


def _check_llvmlite() -> None:
    import llvmlite
    if tuple(map(int, llvmlite.__version__.split('.')[:2])) < (0, 45):
        raise ImportError(
            'the host device needs llvmlite 0.45 or newer, not '
            f'{llvmlite.__version__}. numba before 0.62 asks for an old one: '
            "pip install 'numba>=0.62'")


# The callbacks that the library holds; they must live as long as it does.
_translator: object = None


def _configure_cupy() -> None:
    # Without this, NVRTC makes machine code for a real GPU.
    os.environ['CUPY_COMPILE_WITH_PTX'] = '1'
    # Precompiled headers: compiling a kernel takes half the time.
    os.environ.setdefault('CUPY_NVRTC_USE_PCH', '1')


def _install_finder() -> None:
    from pathlib import Path
    from cupy_backends.host.runtime import _finder
    from cupy_backends.host.runtime import missing
    from cupy_backends.host.runtime import numba_kernels
    finder = _finder.Finder(
        Path(__file__).parent / 'modules',
        {'cupy._core._accelerator': _choose_accelerators,
         'cupy.cuda': missing.hide_libraries,
         'cupy.cuda.jitify': missing.refuse_jitify,
         'cupy_backends.cuda.libs': missing.hide_libraries,
         'cuda.compute._bindings': _install_algorithms,
         'cuda.compute._utils.temp_storage_buffer': _give_storage,
         **dict.fromkeys(numba_kernels.DRIVERS, numba_kernels.link_to_ptx)})
    sys.meta_path.insert(0, finder)


def _install_algorithms(bindings: ModuleType) -> None:
    from cupy_backends.host import compute
    compute.install(bindings)


def _give_storage(buffers: ModuleType) -> None:
    from cupy_backends.host import compute
    compute.allocate_by_driver(buffers)


def _choose_accelerators(accelerator: ModuleType) -> None:
    """Chooses what is fast here, unless ``CUPY_ACCELERATORS`` is set.

    The device-wide algorithms of CUB have native implementations.  CUB's
    block reductions are kernels that take seconds to compile.
    """
    if 'CUPY_ACCELERATORS' in os.environ:
        return
    accelerator.set_elementwise_accelerators([])
    accelerator.set_reduction_accelerators([])
    accelerator.set_routine_accelerators(
        ['cub'] if _has_module('cupy.cuda.cub') else [])


def _has_module(name: str) -> bool:
    from cupy_backends.host.runtime import _finder
    return any(name in finder.builds for finder in sys.meta_path
               if isinstance(finder, _finder.Finder))
