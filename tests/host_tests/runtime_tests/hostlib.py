"""ctypes view of ``libcuda.so.1``."""
from __future__ import annotations

import ctypes
import pathlib
from typing import Any

from cupy_backends.host.runtime import abi

SUCCESS = 0
INVALID_VALUE = 1
OUT_OF_MEMORY = 2
INVALID_PITCH = 12
INVALID_DEVICE = 101
NO_BINARY = 209
INVALID_HANDLE = 400
NOT_FOUND = 500
LAUNCH_TIMEOUT = 702
ASSERT = 710
LAUNCH_FAILED = 719
NOT_SUPPORTED = 801

_u32 = ctypes.c_uint32
_pointer = ctypes.c_void_p


Launch, Block, Stop, Kernel = abi.Launch, abi.Block, abi.Stop, abi.Kernel

STRAIGHT = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(Launch), ctypes.POINTER(Block), ctypes.c_uint64,
    ctypes.c_uint64)
PHASE = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(Launch), ctypes.POINTER(Block), _pointer, _u32,
    _u32)


def load(path: pathlib.Path) -> Any:
    """Loads the library; all arguments must be ctypes objects, strings or
    small integers."""
    lib = ctypes.CDLL(str(path))
    lib.cudaGetErrorString.restype = ctypes.c_char_p
    lib.cudaGetErrorName.restype = ctypes.c_char_p
    abi.declare(lib)
    lib.hd_rt_malloc.restype = _pointer
    lib.hd_rt_malloc.argtypes = [ctypes.c_uint64]
    lib.hd_rt_free.argtypes = [_pointer]
    lib.hd_rt_vprintf.argtypes = [ctypes.c_char_p, _pointer]
    lib.hd_rt_clock64.restype = ctypes.c_uint64
    lib.hd_rt_globaltimer.restype = ctypes.c_uint64
    return lib


def error_text(lib: Any, status: int) -> str:
    """Returns what CuPy's exceptions would say."""
    text: bytes = lib.cudaGetErrorString(status)
    return text.decode()


def dim3(*sizes: int) -> Any:
    return (_u32 * 3)(*(*sizes, 1, 1, 1)[:3])
