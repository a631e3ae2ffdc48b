"""Lets kernels of numba's own run on the host device.

numba-cuda compiles a ``@cuda.jit`` kernel to LTO-IR or to PTX, and has
nvJitLink make machine code for a GPU of it.  Here nvJitLink makes PTX of
what is LTO-IR, and PTX stays PTX.
"""
from __future__ import annotations

import importlib.abc
import sys
from types import ModuleType
from typing import Any

from cupy_backends.host.ptx import link
from cupy_backends.host.runtime import missing

DRIVERS = ('numba.cuda.cudadrv.driver',
           'numba_cuda_mlir.numba_cuda.cudadrv.driver')


def tell_numba() -> None:
    """Tells numba about the device, if it was imported before."""
    for name in DRIVERS:
        module = sys.modules.get(name)
        if module is None:
            continue
        link_to_ptx(module)
        # numba's simulator has no such attribute.
        if getattr(module.driver, 'initialization_error', None) is not None:
            module.driver.__init__()  # it looks for the library again
    if 'numba_cuda_mlir.descriptor' in sys.modules:
        sys.meta_path.insert(0, _MlirImport())


class _MlirImport(importlib.abc.MetaPathFinder):
    """Makes kernels of a numba-cuda-mlir that was imported before raise.

    Its launcher looks for the driver only when it is imported, and calls a
    pointer that is NULL if there was none. The launcher itself may be what
    imports CuPy; so it is dealt with when the next import comes.
    """

    _done = False

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        descriptor = sys.modules['numba_cuda_mlir.descriptor']
        if not self._done and hasattr(descriptor, 'LaunchConfiguration'):
            self._done = True
            descriptor.__dict__['LaunchConfiguration'] = _refuse


def _refuse(*args: Any, **kwargs: Any) -> None:
    raise RuntimeError(
        'numba_cuda_mlir was imported before the host device was there: '
        'import cupy first')


def link_to_ptx(driver: ModuleType) -> None:
    """Makes numba's linker write PTX, and its driver say why that fails.

    Args:
        driver: ``numba.cuda.cudadrv.driver``, or the copy of it in
            numba-cuda-mlir.

    Raises:
        NotOnHostDevice: Later, when a kernel is linked with a file that
            holds machine code.
    """
    linker = getattr(driver, '_Linker', None)
    if not hasattr(linker, 'get_linked_ptx'):
        return  # numba's simulator, or numba without numba-cuda
    # In the classes themselves: others may have imported them already.
    linker.complete = _completes_with(driver)  # type: ignore[union-attr]
    module = driver.CudaPythonModule
    module.get_function = _explained(module.get_function, driver)


def _completes_with(driver: ModuleType) -> Any:
    def complete(self: Any) -> Any:
        _check(self._object_codes)
        lto = [code for code in self._object_codes
               if code.code_type == 'ltoir']
        texts = [_text(code.code) for code in self._object_codes
                 if code.code_type == 'ptx']
        if lto:
            self._object_codes = lto
            texts.append(_text(self.get_linked_ptx()))
        else:
            # numba reads the logs of a linker afterwards.
            self.linker, self._info_log, self._error_log = self, '', ''
            self._complete = True
        return driver.ObjectCode.from_ptx(link.link(texts).encode())
    return complete


def _check(codes: Any) -> None:
    for code in codes:
        if code.name == 'libcudadevrt.a':
            raise missing.NotOnHostDevice(
                'cooperative groups (numba.cuda.cg) are not implemented on '
                'the host device', name='numba.cuda.cg')
        if code.code_type not in ('ltoir', 'ptx'):
            raise missing.NotOnHostDevice(
                f'{code.name} cannot be linked into a kernel of numba on '
                f'the host device, because it is a {code.code_type}: link '
                'CUDA C++ (.cu), PTX or LTO-IR', name='numba.cuda')


def _text(code: bytes) -> str:
    return code.decode().rstrip('\0')


def _explained(get_function: Any, driver: ModuleType) -> Any:
    """cuda.core tells the error's name, and not what is wrong."""
    def explained(self: Any, name: str) -> Any:
        try:
            return get_function(self, name)
        except Exception as error:
            code = getattr(driver.binding.CUresult,
                           str(error).partition(':')[0], None)
            if code is None:
                raise
            _, text = driver.binding.cuGetErrorString(code)
            raise driver.CudaAPIError(int(code), text.decode()) from error
    return explained
