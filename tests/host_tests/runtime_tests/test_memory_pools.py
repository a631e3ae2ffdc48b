"""cudaMallocAsync and memory pools."""
from __future__ import annotations

from collections.abc import Iterator
import ctypes
from typing import Any

import hostlib
import numpy
import pytest
from test_memory import at

# A pool takes memory from the system in pieces of this size, as CUDA's do.
CHUNK = 32 << 20
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
    assert get(lib, pool, RESERVED) == CHUNK
    lib.cudaDeviceSynchronize()
    assert get(lib, pool, RESERVED) == 0  # nothing is kept by default


def test_threshold_keeps_freed_memory(lib: Any,
                                      pool: ctypes.c_void_p) -> None:
    limit = ctypes.c_uint64(CHUNK)
    lib.cudaMemPoolSetAttribute(pool, THRESHOLD, ctypes.byref(limit))
    pointer = allocate(lib, pool, 4096)
    lib.cudaFreeAsync(pointer, None)
    lib.cudaDeviceSynchronize()
    assert get(lib, pool, RESERVED) == CHUNK
    assert allocate(lib, pool, 4096).value == pointer.value
    lib.cudaFreeAsync(pointer, None)
    assert lib.cudaMemPoolTrimTo(pool, ctypes.c_size_t(0)) == 0
    assert get(lib, pool, RESERVED) == 0
    assert get(lib, pool, RESERVED_HIGH) == CHUNK


def test_freed_twice(lib: Any, pool: ctypes.c_void_p) -> None:
    pointer = allocate(lib, pool, 4096)
    assert lib.cudaFreeAsync(pointer, None) == 0
    status = lib.cudaFreeAsync(pointer, None)
    assert status == hostlib.INVALID_VALUE
    assert 'not the start of memory in use' in hostlib.error_text(lib, status)


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


def test_blocks_do_not_overlap(lib: Any, pool: ctypes.c_void_p) -> None:
    """Random sizes, freed in random order, with a pattern in each."""
    random = numpy.random.default_rng(3)
    live: dict[int, tuple[int, int]] = {}
    for step in range(400):
        if live and random.random() < 0.45:
            address = list(live)[random.integers(len(live))]
            size, pattern = live.pop(address)
            found = ctypes.string_at(address, size)
            assert found == bytes([pattern]) * size
            assert lib.cudaFreeAsync(ctypes.c_void_p(address), None) == 0
        else:
            size = int(random.integers(1, 200000))
            address = allocate(lib, pool, size).value or 0
            assert address % 512 == 0 and address not in live
            ctypes.memset(address, step % 251, size)
            live[address] = size, step % 251
    for address in live:
        lib.cudaFreeAsync(ctypes.c_void_p(address), None)
    assert get(lib, pool, USED) == 0


def test_freed_neighbours_are_joined(lib: Any,
                                     pool: ctypes.c_void_p) -> None:
    pieces = [allocate(lib, pool, CHUNK // 8) for _ in range(8)]
    for number in (1, 3, 0, 2, 7, 5, 6, 4):
        lib.cudaFreeAsync(pieces[number], None)
    whole = allocate(lib, pool, CHUNK)
    assert get(lib, pool, RESERVED) == CHUNK
    lib.cudaFreeAsync(whole, None)


def test_more_than_a_chunk(lib: Any, pool: ctypes.c_void_p) -> None:
    pointer = allocate(lib, pool, CHUNK + 1)
    assert CHUNK < get(lib, pool, RESERVED) <= 2 * CHUNK
    ctypes.memset(pointer.value or 0, 1, CHUNK + 1)
    lib.cudaFreeAsync(pointer, None)


def test_memory_in_use_is_not_trimmed(lib: Any,
                                      pool: ctypes.c_void_p) -> None:
    pointer = allocate(lib, pool, 4096)
    assert lib.cudaMemPoolTrimTo(pool, ctypes.c_size_t(0)) == 0
    ctypes.memset(pointer.value or 0, 1, 4096)
    assert get(lib, pool, RESERVED) == CHUNK
    lib.cudaFreeAsync(pointer, None)


@pytest.mark.parametrize('attribute', [RESERVED_HIGH, USED_HIGH])
def test_high_water_marks_restart(lib: Any, pool: ctypes.c_void_p,
                                  attribute: int) -> None:
    lib.cudaFreeAsync(allocate(lib, pool, 4096), None)
    lib.cudaDeviceSynchronize()
    assert get(lib, pool, attribute) > 0
    value = ctypes.c_uint64(5)
    assert lib.cudaMemPoolSetAttribute(
        pool, attribute, ctypes.byref(value)) == hostlib.INVALID_VALUE
    value.value = 0
    assert lib.cudaMemPoolSetAttribute(
        pool, attribute, ctypes.byref(value)) == 0
    assert get(lib, pool, attribute) == 0


@pytest.mark.parametrize('size', [0, 1 << 60])
def test_impossible_sizes(lib: Any, pool: ctypes.c_void_p,
                          size: int) -> None:
    pointer = ctypes.c_void_p()
    status = lib.cudaMallocFromPoolAsync(
        ctypes.byref(pointer), ctypes.c_size_t(size), pool, None)
    assert status == (hostlib.OUT_OF_MEMORY if size else
                      hostlib.INVALID_VALUE)
    assert get(lib, pool, USED) == 0
