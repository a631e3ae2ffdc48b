"""A PTX translator for tests: "modules" made of Python functions."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import contextlib
import ctypes
from typing import Any

from cupy_backends.host.runtime import abi
import hostlib

Body = Callable[[hostlib.Launch, hostlib.Block, int, int], None]


class Straight:
    """A kernel without barriers, given as a function over blocks.

    Args:
        body (callable): Gets the launch, the block state, and the first and
            the end of the blocks to run.
        params (sequence of int): Sizes of the parameters in bytes, each
            aligned to its size.
    """

    def __init__(self, body: Body, params: Sequence[int] = (),
                 **fields: Any) -> None:
        offsets, end = [], 0
        for size in params:
            end = -(-end // size) * size
            offsets.append(end)
            end += size
        self.errors: list[BaseException] = []
        self._body = body
        self._offsets = (ctypes.c_uint32 * max(1, len(params)))(*offsets)
        self._sizes = (ctypes.c_uint32 * max(1, len(params)))(*params)
        self._entry = hostlib.STRAIGHT(self._run)
        values: dict[str, Any] = {
            'abi_version': 1, 'n_params': len(params),
            'param_offset': self._offsets, 'param_size': self._sizes,
            'param_bytes': end, 'max_threads_per_block': 1024,
            'name': b'straight',
            'entry': ctypes.cast(self._entry, ctypes.c_void_p)}
        self.struct = hostlib.Kernel(**{**values, **fields})

    def _run(self, launch: Any, block: Any, first: int, end: int) -> None:
        try:
            self._body(launch[0], block[0], first, end)
        except BaseException as error:
            self.errors.append(error)


class Translator:
    """Serves the kernels of `kernels` to every module.

    Args:
        lib: The library.
        kernels (dict): :class:`Straight` or other kernels by name.
        arena (bytes): The initial contents of each module's variables.
        globals_ (dict): Pairs (offset, size) by name.

    Attributes:
        log (list): What was asked for, in order.
    """

    def __init__(self, lib: Any, kernels: dict[str, Any],
                 arena: bytes = b'',
                 globals_: dict[str, tuple[int, int]] | None = None) -> None:
        self.lib = lib
        self.kernels = kernels
        self.arena = arena
        self.globals = globals_ or {}
        self.log: list[tuple[str, Any]] = []
        self.table = abi.Translator(
            abi.LOAD_MODULE(self._load),
            abi.UNLOAD_MODULE(self._unload),
            abi.GET_KERNEL(self._kernel),
            abi.GET_GLOBAL(self._global))

    def _load(self, module: int, image: int, size: int) -> int:
        text = ctypes.string_at(image, size)
        self.log.append(('load', text))
        if b'nonsense' in text:
            self.lib.hd_set_error(218, b'PTX line 3: nonsense')
            return 218
        self.lib.hd_module_set_globals(module, len(self.arena), self.arena)
        return 0

    def _unload(self, module: int) -> None:
        self.log.append(('unload', module))

    def _kernel(self, module: int, name: bytes) -> int | None:
        self.log.append(('kernel', name))
        kernel = self.kernels.get(name.decode())
        if kernel is None:
            self.lib.hd_set_error(500, b'the module has no kernel ' + name)
            return None
        return ctypes.addressof(kernel.struct)

    def _global(self, module: int, name: bytes, offset: Any,
                size: Any) -> int:
        found = self.globals.get(name.decode())
        if found is None:
            self.lib.hd_set_error(500, b'the module has no variable ' + name)
            return 500
        offset[0], size[0] = found
        return 0


@contextlib.contextmanager
def translator(lib: Any, kernels: dict[str, Any],
               **options: Any) -> Iterator[Translator]:
    made = Translator(lib, kernels, **options)
    lib.hd_set_translator(ctypes.byref(made.table))
    try:
        yield made
    finally:
        lib.hd_set_translator(None)
        for kernel in kernels.values():
            if kernel.errors:
                raise kernel.errors[0]


def load(lib: Any, image: bytes = b'.version 8.0\n') -> ctypes.c_void_p:
    module = ctypes.c_void_p()
    assert lib.cuModuleLoadData(ctypes.byref(module), image) == 0
    return module


def function(lib: Any, module: ctypes.c_void_p,
             name: bytes) -> ctypes.c_void_p:
    found = ctypes.c_void_p()
    assert lib.cuModuleGetFunction(ctypes.byref(found), module, name) == 0
    return found


def pointers(*values: Any) -> Any:
    """Returns the array that cuLaunchKernel takes; `values` must live on."""
    return (ctypes.c_void_p * max(1, len(values)))(
        *(ctypes.addressof(value) for value in values))


def launch(lib: Any, kernel: ctypes.c_void_p, params: Any = None,
           extra: Any = None, grid: Sequence[int] = (1, 1, 1),
           block: Sequence[int] = (32, 1, 1), shared: int = 0,
           stream: Any = None) -> int:
    status: int = lib.cuLaunchKernel(
        kernel, *(ctypes.c_uint(n) for n in (*grid, *block, shared)),
        stream, params, extra)
    return status
