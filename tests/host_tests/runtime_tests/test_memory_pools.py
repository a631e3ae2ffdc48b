"""cudaMallocAsync and memory pools."""
from __future__ import annotations

from collections.abc import Iterator
import ctypes
from typing import Any

import hostlib
import pytest
from test_memory import at

THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH = 4, 5, 6, 7, 8


class Props(ctypes.Structure):
    _fields_ = [('alloc_type', ctypes.c_int), ('handle_types', ctypes.c_int),
                ('location', ctypes.c_int * 2), ('rest', ctypes.c_byte * 72)]


@pytest.fixture
def pool(lib: Any) -> Iterator[ctypes.c_void_p]:
    handle = ctypes.c_void_p()
    props = Props(alloc_type=1, location=(1, 0))
    assert lib.cudaMemPoolCreate(ctypes.byref(handle),
                                 ctypes.byref(props)) == 0
    yield handle
    assert lib.cudaMemPoolDestroy(handle) == 0


def get(lib: Any, pool: ctypes.c_void_p, attribute: int) -> int:
    value = ctypes.c_uint64()
    assert lib.cudaMemPoolGetAttribute(pool, attribute,
                                       ctypes.byref(value)) == 0
    return value.value


def allocate(lib: Any, pool: ctypes.c_void_p, size: int) -> ctypes.c_void_p:
    pointer = ctypes.c_void_p()
    status = lib.cudaMallocFromPoolAsync(
        ctypes.byref(pointer), ctypes.c_size_t(size), pool, None)
    assert status == 0
    return pointer


def test_use_is_counted(lib: Any, pool: ctypes.c_void_p) -> None:
    first, second = (allocate(lib, pool, 4096) for _ in range(2))
    assert get(lib, pool, USED) == 8192
    lib.cudaFreeAsync(first, None)
    assert get(lib, pool, USED) == 4096
    assert get(lib, pool, USED_HIGH) == 8192
    lib.cudaFreeAsync(second, None)
    assert get(lib, pool, RESERVED) == 0  # nothing is kept by default


def test_threshold_keeps_freed_memory(lib: Any,
                                      pool: ctypes.c_void_p) -> None:
    limit = ctypes.c_uint64(1 << 20)
    lib.cudaMemPoolSetAttribute(pool, THRESHOLD, ctypes.byref(limit))
    pointer = allocate(lib, pool, 4096)
    lib.cudaFreeAsync(pointer, None)
    assert get(lib, pool, RESERVED) == 4096
    assert allocate(lib, pool, 4096).value == pointer.value
    lib.cudaFreeAsync(pointer, None)
    assert lib.cudaMemPoolTrimTo(pool, ctypes.c_size_t(0)) == 0
    assert get(lib, pool, RESERVED) == 0
    assert get(lib, pool, RESERVED_HIGH) == 4096


def test_freed_twice(lib: Any, pool: ctypes.c_void_p) -> None:
    limit = ctypes.c_uint64(1 << 20)
    lib.cudaMemPoolSetAttribute(pool, THRESHOLD, ctypes.byref(limit))
    pointer = allocate(lib, pool, 4096)
    assert lib.cudaFreeAsync(pointer, None) == 0
    status = lib.cudaFreeAsync(pointer, None)
    assert status == hostlib.INVALID_VALUE
    assert 'freed before' in hostlib.error_text(lib, status)


def test_cudafree_takes_memory_of_a_pool(lib: Any,
                                         pool: ctypes.c_void_p) -> None:
    pointer = allocate(lib, pool, 4096)
    assert lib.cudaFree(pointer) == 0
    assert get(lib, pool, USED) == 0


def test_free_of_a_middle(lib: Any, pool: ctypes.c_void_p) -> None:
    pointer = allocate(lib, pool, 4096)
    status = lib.cudaFreeAsync(at(pointer, 512), None)
    assert status == hostlib.INVALID_VALUE
    lib.cudaFreeAsync(pointer, None)


def test_default_pool(lib: Any) -> None:
    default, current = ctypes.c_void_p(), ctypes.c_void_p()
    lib.cudaDeviceGetDefaultMemPool(ctypes.byref(default), 0)
    lib.cudaDeviceGetMemPool(ctypes.byref(current), 0)
    assert default.value == current.value
    assert lib.cudaMemPoolDestroy(default) == hostlib.INVALID_VALUE


def test_current_pool_serves_cudamallocasync(
        lib: Any, pool: ctypes.c_void_p) -> None:
    default, pointer = ctypes.c_void_p(), ctypes.c_void_p()
    lib.cudaDeviceGetDefaultMemPool(ctypes.byref(default), 0)
    assert lib.cudaDeviceSetMemPool(0, pool) == 0
    lib.cudaMallocAsync(ctypes.byref(pointer), ctypes.c_size_t(512), None)
    assert get(lib, pool, USED) == 512
    lib.cudaFreeAsync(pointer, None)
    assert lib.cudaDeviceSetMemPool(0, default) == 0


def test_destroyed_pool(lib: Any) -> None:
    handle = ctypes.c_void_p()
    props = Props(alloc_type=1, location=(1, 0))
    lib.cudaMemPoolCreate(ctypes.byref(handle), ctypes.byref(props))
    pointer = allocate(lib, handle, 4096)
    lib.cudaMemPoolDestroy(handle)
    value = ctypes.c_uint64()
    status = lib.cudaMemPoolGetAttribute(handle, USED, ctypes.byref(value))
    assert status == hostlib.INVALID_HANDLE
    assert lib.cudaFreeAsync(pointer, None) == 0  # still a live allocation
