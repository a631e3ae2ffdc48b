"""Allocation, pointer attributes, copies and fills."""
from __future__ import annotations

import ctypes
from typing import Any

import hostlib
import numpy
import pytest

_MIB = 1 << 20


class PointerAttributes(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int), ('device', ctypes.c_int),
                ('device_pointer', ctypes.c_void_p),
                ('host_pointer', ctypes.c_void_p),
                ('reserved', ctypes.c_long * 8)]


class Pitched(ctypes.Structure):
    _fields_ = [('ptr', ctypes.c_void_p), ('pitch', ctypes.c_size_t),
                ('xsize', ctypes.c_size_t), ('ysize', ctypes.c_size_t)]


class Copy3D(ctypes.Structure):
    _fields_ = [('src_array', ctypes.c_void_p),
                ('src_pos', ctypes.c_size_t * 3), ('src', Pitched),
                ('dst_array', ctypes.c_void_p),
                ('dst_pos', ctypes.c_size_t * 3), ('dst', Pitched),
                ('extent', ctypes.c_size_t * 3), ('kind', ctypes.c_int)]


def allocate(lib: Any, size: int) -> ctypes.c_void_p:
    pointer = ctypes.c_void_p()
    assert lib.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
    return pointer


def at(pointer: ctypes.c_void_p, offset: int) -> ctypes.c_void_p:
    return ctypes.c_void_p((pointer.value or 0) + offset)


def size_t(*values: int) -> list[ctypes.c_size_t]:
    return [ctypes.c_size_t(value) for value in values]


def attributes(lib: Any, pointer: ctypes.c_void_p) -> PointerAttributes:
    result = PointerAttributes()
    status = lib.cudaPointerGetAttributes(ctypes.byref(result), pointer)
    assert status == 0
    return result


@pytest.mark.parametrize('size', [1, 511, 513, 5 * _MIB])
def test_allocations_are_aligned_and_usable(lib: Any, size: int) -> None:
    pointer = allocate(lib, size)
    assert pointer.value is not None and pointer.value % 512 == 0
    assert lib.cudaMemset(pointer, 0x5a, ctypes.c_size_t(size)) == 0
    assert ctypes.string_at(pointer.value, size) == b'\x5a' * size
    assert lib.cudaFree(pointer) == 0


def test_allocations_fill_whole_units(lib: Any) -> None:
    # As on a GPU: a kernel of more threads than elements that forgets to
    # look at the size does no harm.
    usable = ctypes.CDLL(None).malloc_usable_size
    usable.restype = ctypes.c_size_t
    pointer = allocate(lib, 40)
    assert usable(pointer) >= 512
    assert lib.cudaFree(pointer) == 0


def test_free_memory_goes_down_and_up(lib: Any) -> None:
    # Free memory is that of the machine, so others may change it as well;
    # the amount is large beside what they do in the meantime.
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    info = (ctypes.byref(free), ctypes.byref(total))
    pointer = allocate(lib, 64 * _MIB)
    lib.cudaMemset(pointer, 1, ctypes.c_size_t(64 * _MIB))
    assert lib.cudaMemGetInfo(*info) == 0
    assert 0 < free.value <= total.value - 64 * _MIB
    lib.cudaFree(pointer)


def test_more_than_there_is_is_out_of_memory(lib: Any) -> None:
    pointer = ctypes.c_void_p(123)
    status = lib.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 60))
    assert status == hostlib.OUT_OF_MEMORY
    assert pointer.value is None
    assert str(1 << 60) in hostlib.error_text(lib, status)


@pytest.mark.parametrize('offset', [8, 0])
def test_free_of_what_is_not_an_allocation(lib: Any, offset: int) -> None:
    pointer = allocate(lib, 64)
    if not offset:
        lib.cudaFree(pointer)
    status = lib.cudaFree(at(pointer, offset))
    assert status == hostlib.INVALID_VALUE
    assert 'not the start of device memory' in hostlib.error_text(lib, status)
    if offset:
        lib.cudaFree(pointer)


def test_host_and_device_memory_are_freed_apart(lib: Any) -> None:
    pinned = ctypes.c_void_p()
    lib.cudaHostAlloc(ctypes.byref(pinned), ctypes.c_size_t(64), 0)
    assert lib.cudaFree(pinned) == hostlib.INVALID_VALUE
    assert lib.cudaFreeHost(pinned) == 0
    assert lib.cudaFree(None) == 0 and lib.cudaFreeHost(None) == 0


def test_attributes_inside_and_outside_of_an_allocation(lib: Any) -> None:
    pointer = allocate(lib, 100)
    inside = attributes(lib, at(pointer, 99))
    assert (inside.type, inside.device) == (2, 0)
    assert inside.device_pointer == at(pointer, 99).value
    assert inside.host_pointer is None
    lib.cudaFree(pointer)
    assert attributes(lib, pointer).type == 0


def test_attributes_of_host_memory(lib: Any) -> None:
    array = numpy.zeros(1000)
    address = ctypes.c_void_p(array.ctypes.data)
    assert attributes(lib, address).type == 0
    size = ctypes.c_size_t(array.nbytes)
    assert lib.cudaHostRegister(address, size, 0) == 0
    assert attributes(lib, at(address, 16)).type == 1
    assert attributes(lib, at(address, 16)).host_pointer == address.value + 16
    assert lib.cudaHostRegister(address, size, 0) == 712
    assert lib.cudaHostUnregister(address) == 0
    assert lib.cudaHostUnregister(address) == 713


def test_managed_memory(lib: Any) -> None:
    pointer = ctypes.c_void_p()
    size = ctypes.c_size_t(1000)
    assert lib.cudaMallocManaged(ctypes.byref(pointer), size, 1) == 0
    found = attributes(lib, pointer)
    assert found.type == 3
    assert found.host_pointer == found.device_pointer == pointer.value
    assert lib.cudaFree(pointer) == 0


@pytest.mark.parametrize('size', [0, 1, 1000, 9 * _MIB + 3])
def test_copy_there_and_back(lib: Any, size: int) -> None:
    source = numpy.random.default_rng(1).integers(0, 256, size, 'u1')
    result = numpy.zeros(size, 'u1')
    pointer, count = allocate(lib, size + 1), ctypes.c_size_t(size)
    lib.cudaMemcpy(pointer, ctypes.c_void_p(source.ctypes.data), count, 1)
    status = lib.cudaMemcpyAsync(
        ctypes.c_void_p(result.ctypes.data), pointer, count, 2, None)
    assert status == 0
    numpy.testing.assert_array_equal(result, source)
    lib.cudaFree(pointer)


def test_copy_over_the_end_is_an_error(lib: Any) -> None:
    pointer = allocate(lib, 64)
    status = lib.cudaMemset(at(pointer, 60), 0, ctypes.c_size_t(5))
    text = hostlib.error_text(lib, status)
    assert status == hostlib.INVALID_VALUE
    assert 'cudaMemset of 5 bytes' in text and 'offset 60' in text
    array = numpy.zeros(65, 'u1')
    assert lib.cudaMemcpy(pointer, ctypes.c_void_p(array.ctypes.data),
                          ctypes.c_size_t(65), 1) == hostlib.INVALID_VALUE
    lib.cudaFree(pointer)


def test_rows_are_copied_with_their_pitches(lib: Any) -> None:
    source = numpy.arange(60, dtype='u1').reshape(6, 10)
    pointer = allocate(lib, 6 * 16)
    lib.cudaMemset(pointer, 255, ctypes.c_size_t(96))
    status = lib.cudaMemcpy2D(
        pointer, *size_t(16), ctypes.c_void_p(source.ctypes.data),
        *size_t(10, 7, 6), 1)
    assert status == 0
    found = numpy.frombuffer(ctypes.string_at(pointer.value or 0, 96),
                             'u1').reshape(6, 16)
    numpy.testing.assert_array_equal(found[:, :7], source[:, :7])
    assert (found[:, 7:] == 255).all()
    status = lib.cudaMemcpy2D(
        pointer, *size_t(5), ctypes.c_void_p(source.ctypes.data),
        *size_t(10, 7, 6), 1)
    assert status == hostlib.INVALID_PITCH
    lib.cudaFree(pointer)


def test_box_copy(lib: Any) -> None:
    source = numpy.arange(4 * 5 * 6, dtype='u1').reshape(4, 5, 6)
    result = numpy.zeros((3, 4, 8), 'u1')
    job = Copy3D(src=Pitched(source.ctypes.data, 6, 6, 5),
                 dst=Pitched(result.ctypes.data, 8, 8, 4), kind=4)
    job.src_pos[:] = (1, 2, 1)
    job.dst_pos[:] = (3, 1, 1)
    job.extent[:] = (4, 3, 2)
    assert lib.cudaMemcpy3D(ctypes.byref(job)) == 0
    expected = numpy.zeros_like(result)
    expected[1:3, 1:4, 3:7] = source[1:3, 2:5, 1:5]
    numpy.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize('bits', [8, 16, 32])
def test_driver_fills(lib: Any, bits: int) -> None:
    pointer = allocate(lib, 64)
    lib.cudaMemset(pointer, 0, ctypes.c_size_t(64))
    value = 0x12345678 & (1 << bits) - 1
    fill = getattr(lib, f'cuMemsetD{bits}_v2')
    assert fill(pointer, ctypes.c_uint32(value), ctypes.c_size_t(7)) == 0
    found = numpy.frombuffer(ctypes.string_at(pointer.value or 0, 64),
                             f'u{bits // 8}')
    assert (found[:7] == value).all() and not found[7:].any()
    lib.cudaFree(pointer)
