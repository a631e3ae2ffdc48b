"""The PTX translator as the C++ library sees it.

The library calls the functions of :class:`Translator` from whatever thread
loads a module or asks for a kernel; ctypes takes the GIL.  What they hand
out stays alive as long as the module.  An exception never leaves them: it
becomes an error code and a text.
"""
from __future__ import annotations

import atexit
from collections.abc import Callable
import ctypes
import threading
from typing import Any

from cupy_backends.host.ptx import compile as compile_
from cupy_backends.host.ptx import errors
from cupy_backends.host.runtime import abi
from cupy_backends.host.runtime import jit

# CUresult
_INVALID_IMAGE = 200
_INVALID_PTX = 218
_NOT_FOUND = 500
_NOT_SUPPORTED = 801
_OUT_OF_MEMORY = 2
_UNKNOWN = 999

_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (errors.UnsupportedInstruction, _NOT_SUPPORTED),
    (errors.PTXSyntaxError, _INVALID_PTX),
    (errors.UnknownSymbol, _NOT_FOUND),
    (errors.PTXError, _INVALID_PTX),
    (NotImplementedError, _NOT_SUPPORTED),
    (UnicodeDecodeError, _INVALID_IMAGE),
    (MemoryError, _OUT_OF_MEMORY),
)


def _status(error: BaseException) -> tuple[int, str]:
    """Returns the code and the text for an exception."""
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code, str(error) or kind.__name__
    return _UNKNOWN, (
        f'the host device failed: {type(error).__name__}: {error}')


class Kernel:
    """A kernel's code and the ``hd_kernel`` that describes it.

    Args:
        module (compile.Module): The module.
        name (str): The kernel's name.

    Attributes:
        address (int): Of the ``hd_kernel``.
    """

    def __init__(self, module: compile_.Module, name: str) -> None:
        kernel, image = jit.compile_kernel(module, name)
        self._code = jit.Code(name, image, kernel.functions)
        self._keep: list[Any] = []
        self._struct = self._describe(kernel)
        self.address = ctypes.addressof(self._struct)

    def _describe(self, kernel: compile_.Kernel) -> abi.Kernel:
        addresses = self._code.addresses
        has_phases = bool(kernel.stops)
        stops = [abi.Stop(*fields) for fields in kernel.stops]
        return abi.Kernel(
            abi_version=abi.VERSION,
            n_phases=len(addresses) if has_phases else 0,
            entry=None if has_phases else addresses[0],
            phases=self._array(ctypes.c_void_p, addresses),
            stops=self._array(abi.Stop, stops),
            n_stops=len(stops),
            frame_bytes=kernel.frame_bytes,
            static_shared=kernel.static_shared,
            n_params=len(kernel.params),
            param_offset=self._array(
                ctypes.c_uint32, [offset for offset, _ in kernel.params]),
            param_size=self._array(
                ctypes.c_uint32, [size for _, size in kernel.params]),
            param_bytes=kernel.param_bytes,
            max_threads_per_block=kernel.max_threads,
            local_bytes=kernel.local_bytes,
            name=kernel.name.encode())

    def _array(self, kind: type[Any], values: Any) -> Any:
        """Returns a C array that lives as long as this object."""
        array = (kind * max(1, len(values)))(*values)
        self._keep.append(array)
        return array


class _Module:
    """A loaded module with the kernels that were asked for so far."""

    def __init__(self, module: compile_.Module) -> None:
        self.module = module
        self._kernels: dict[str, Kernel] = {}
        self._lock = threading.Lock()

    def kernel(self, name: str) -> Kernel:
        with self._lock:
            found = self._kernels.get(name)
            if found is None:
                found = self._kernels[name] = Kernel(self.module, name)
            return found


class Translator:
    """The callbacks of ``hd_translator``.

    Args:
        library (ctypes.CDLL): The host device's driver library.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._modules: dict[int, _Module] = {}
        self._table = abi.Translator(
            abi.LOAD_MODULE(self._guard(self._load_module)),
            abi.UNLOAD_MODULE(self._guard(self._unload_module)),
            abi.GET_KERNEL(self._guard(self._get_kernel, failed=None)),
            abi.GET_GLOBAL(self._guard(self._get_global)))

    def register(self) -> None:
        """Makes this the translator, until the interpreter shuts down."""
        self._library.hd_set_translator(ctypes.byref(self._table))
        atexit.register(self._library.hd_set_translator, None)

    def _guard(self, function: Callable[..., Any],
               failed: Any = ...) -> Callable[..., Any]:
        """Wraps a callback: an exception sets the error of the thread.

        Args:
            failed: What to return then, by default the error code.
        """
        def guarded(*args: Any) -> Any:
            try:
                return function(*args)
            except BaseException as error:
                code, text = _status(error)
                self._library.hd_set_error(
                    code, text.encode('utf-8', 'replace'))
                return code if failed is ... else failed
        return guarded

    def _load_module(self, number: int, image: int, size: int) -> int:
        text = ctypes.string_at(image, size).decode('utf-8')
        module = compile_.Module(text)
        self._place_globals(number, module)
        self._modules[number] = _Module(module)
        return 0

    def _place_globals(self, number: int, module: compile_.Module) -> None:
        size = module.arena_size
        if not size:
            return
        init = module.arena_init.ljust(size, b'\0')
        base = self._library.hd_module_set_globals(number, size, init)
        if not base:
            raise MemoryError(
                f'out of memory: {size} bytes for the variables of a module')
        for offset, target in module.relocations:
            ctypes.c_uint64.from_address(base + offset).value = base + target

    def _unload_module(self, number: int) -> None:
        self._modules.pop(number, None)

    def _get_kernel(self, number: int, name: bytes) -> int:
        return self._modules[number].kernel(name.decode('utf-8')).address

    def _get_global(self, number: int, name: bytes, offset: Any,
                    size: Any) -> int:
        module = self._modules[number].module
        offset[0], size[0] = module.global_address(name.decode('utf-8'))
        return 0
