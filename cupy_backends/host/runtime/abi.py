"""The structures of ``csrc/kernel_abi.h`` and ``csrc/bridge_abi.h``."""
from __future__ import annotations

import ctypes

VERSION = 1


class Launch(ctypes.Structure):
    """``hd_launch``"""

    _fields_ = [
        ('grid', ctypes.c_uint32 * 3),
        ('block', ctypes.c_uint32 * 3),
        ('dynamic_shared', ctypes.c_uint32),
        ('reserved', ctypes.c_uint32),
        ('globals', ctypes.c_void_p),
        ('params', ctypes.c_void_p),
    ]


class Block(ctypes.Structure):
    """``hd_block``"""

    _fields_ = [
        ('shared', ctypes.c_void_p),
        ('ctaid', ctypes.c_uint32 * 3),
        ('worker', ctypes.c_uint32),
        ('fault', ctypes.c_uint64),
    ]


class Stop(ctypes.Structure):
    """``hd_stop``"""

    _fields_ = [
        ('kind', ctypes.c_uint32),
        ('op', ctypes.c_uint32),
        ('dst', ctypes.c_int32),
        ('dst2', ctypes.c_int32),
        ('a', ctypes.c_int32),
        ('b', ctypes.c_int32),
        ('c', ctypes.c_int32),
        ('mask', ctypes.c_int32),
        ('imm', ctypes.c_uint32),
        ('line', ctypes.c_uint32),
    ]


class Kernel(ctypes.Structure):
    """``hd_kernel``"""

    _fields_ = [
        ('abi_version', ctypes.c_uint32),
        ('n_phases', ctypes.c_uint32),
        ('entry', ctypes.c_void_p),
        ('phases', ctypes.POINTER(ctypes.c_void_p)),
        ('stops', ctypes.POINTER(Stop)),
        ('n_stops', ctypes.c_uint32),
        ('frame_bytes', ctypes.c_uint32),
        ('static_shared', ctypes.c_uint32),
        ('n_params', ctypes.c_uint32),
        ('param_offset', ctypes.POINTER(ctypes.c_uint32)),
        ('param_size', ctypes.POINTER(ctypes.c_uint32)),
        ('param_bytes', ctypes.c_uint32),
        ('max_threads_per_block', ctypes.c_uint32),
        ('local_bytes', ctypes.c_uint32),
        ('n_registers', ctypes.c_uint32),
        ('name', ctypes.c_char_p),
    ]


LOAD_MODULE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)
UNLOAD_MODULE = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
GET_KERNEL = ctypes.CFUNCTYPE(
    ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p)
GET_GLOBAL = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_uint64, ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64))


class Translator(ctypes.Structure):
    """``hd_translator``"""

    _fields_ = [
        ('load_module', LOAD_MODULE),
        ('unload_module', UNLOAD_MODULE),
        ('get_kernel', GET_KERNEL),
        ('get_global', GET_GLOBAL),
    ]


STRUCTURES: dict[str, type[ctypes.Structure]] = {
    'hd_launch': Launch, 'hd_block': Block, 'hd_stop': Stop,
    'hd_kernel': Kernel, 'hd_translator': Translator,
}


def declare(library: ctypes.CDLL) -> None:
    """Sets the signatures of the library's ``hd_*`` functions.

    Args:
        library (ctypes.CDLL): The host device's ``libcuda.so.1``.

    Raises:
        ImportError: The library was built from other sources.
    """
    library.hd_sizeof.argtypes = [ctypes.c_char_p]
    library.hd_sizeof.restype = ctypes.c_uint64
    for name, structure in STRUCTURES.items():
        if library.hd_sizeof(name.encode()) != ctypes.sizeof(structure):
            raise ImportError(
                f'{library._name} does not belong to this version of '
                f'cupy_backends.host (structure {name}); build it anew')
    library.hd_set_error.argtypes = [ctypes.c_int, ctypes.c_char_p]
    library.hd_set_error.restype = None
    library.hd_set_translator.argtypes = [ctypes.POINTER(Translator)]
    library.hd_set_translator.restype = None
    library.hd_module_set_globals.argtypes = [
        ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p]
    library.hd_module_set_globals.restype = ctypes.c_void_p
    library.hd_set_num_threads.argtypes = [ctypes.c_uint32]
    library.hd_set_num_threads.restype = None
    library.hd_get_num_threads.argtypes = []
    library.hd_get_num_threads.restype = ctypes.c_uint32
