"""ctypes view of ``libcuda.so.1`` and of ``csrc/kernel_abi.h``."""
from __future__ import annotations

import ctypes
import pathlib
from typing import Any

SUCCESS = 0
INVALID_VALUE = 1
OUT_OF_MEMORY = 2
INVALID_PITCH = 12
INVALID_DEVICE = 101
NO_BINARY = 209
INVALID_HANDLE = 400
NOT_FOUND = 500
OUT_OF_RESOURCES = 701
LAUNCH_TIMEOUT = 702
ASSERT = 710
LAUNCH_FAILED = 719
NOT_SUPPORTED = 801

_u32 = ctypes.c_uint32
_pointer = ctypes.c_void_p


class Launch(ctypes.Structure):
    _fields_ = [('grid', _u32 * 3), ('block', _u32 * 3),
                ('dynamic_shared', _u32), ('reserved', _u32),
                ('globals', _pointer), ('params', _pointer)]


class Block(ctypes.Structure):
    _fields_ = [('shared', _pointer), ('ctaid', _u32 * 3),
                ('worker', _u32), ('fault', ctypes.c_uint64)]


class Stop(ctypes.Structure):
    _fields_ = [('kind', _u32), ('op', _u32),
                ('dst', ctypes.c_int32), ('dst2', ctypes.c_int32),
                ('a', ctypes.c_int32), ('b', ctypes.c_int32),
                ('c', ctypes.c_int32), ('mask', ctypes.c_int32),
                ('imm', _u32), ('line', _u32)]


class Kernel(ctypes.Structure):
    _fields_ = [('abi_version', _u32), ('n_phases', _u32),
                ('entry', _pointer), ('phases', ctypes.POINTER(_pointer)),
                ('stops', ctypes.POINTER(Stop)), ('n_stops', _u32),
                ('frame_bytes', _u32), ('static_shared', _u32),
                ('n_params', _u32), ('param_offset', ctypes.POINTER(_u32)),
                ('param_size', ctypes.POINTER(_u32)), ('param_bytes', _u32),
                ('max_threads_per_block', _u32), ('local_bytes', _u32),
                ('n_registers', _u32), ('name', ctypes.c_char_p)]


STRAIGHT = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(Launch), ctypes.POINTER(Block), ctypes.c_uint64,
    ctypes.c_uint64)
PHASE = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(Launch), ctypes.POINTER(Block), _pointer, _u32,
    _u32)


class Translator(ctypes.Structure):
    LOAD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, _pointer,
                            ctypes.c_uint64)
    UNLOAD = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
    KERNEL = ctypes.CFUNCTYPE(_pointer, ctypes.c_uint64, ctypes.c_char_p)
    GLOBAL = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_uint64, ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64))
    _fields_ = [('load_module', LOAD), ('unload_module', UNLOAD),
                ('get_kernel', KERNEL), ('get_global', GLOBAL)]


def load(path: pathlib.Path) -> Any:
    """Loads the library; all arguments must be ctypes objects, strings or
    small integers."""
    lib = ctypes.CDLL(str(path))
    lib.cudaGetErrorString.restype = ctypes.c_char_p
    lib.cudaGetErrorName.restype = ctypes.c_char_p
    lib.hd_module_set_globals.restype = _pointer
    lib.hd_module_set_globals.argtypes = [
        ctypes.c_uint64, ctypes.c_uint64, _pointer]
    lib.hd_sizeof.restype = ctypes.c_uint64
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
