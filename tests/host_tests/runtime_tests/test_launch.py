"""Launches: parameters, grid shapes, limits."""
from __future__ import annotations

from collections.abc import Iterator
import contextlib
import ctypes
import struct
from typing import Any

import hostlib
import pytest
import translators
from translators import launch
from translators import pointers
from translators import Straight

BUFFER, SIZE, END = 1, 2, 0


@contextlib.contextmanager
def kernel_of(lib: Any, kernel: Straight) -> Iterator[ctypes.c_void_p]:
    with translators.translator(lib, {'k': kernel}):
        module = translators.load(lib)
        yield translators.function(lib, module, b'k')
        lib.cuModuleUnload(module)


class Seen:
    """A kernel that notes what it was launched with."""

    def __init__(self, params: tuple[int, ...] = (), **fields: Any) -> None:
        self.kernel = Straight(self._body, params, **fields)
        self.params: list[bytes] = []
        self.shapes: list[tuple[Any, ...]] = []
        self.blocks: list[int] = []

    def _body(self, launch: hostlib.Launch, block: hostlib.Block, first: int,
              end: int) -> None:
        self.params.append(ctypes.string_at(
            launch.params, self.kernel.struct.param_bytes))
        self.shapes.append((tuple(launch.grid), tuple(launch.block),
                            launch.dynamic_shared))
        self.blocks += range(first, end)


def test_parameters_by_pointers(lib: Any) -> None:
    seen = Seen((1, 8, 4, 2))
    values = (ctypes.c_int8(-1), ctypes.c_double(2.5), ctypes.c_int32(7),
              ctypes.c_uint16(65535))
    with kernel_of(lib, seen.kernel) as kernel:
        assert launch(lib, kernel, pointers(*values)) == 0
    found = struct.unpack('=bxxxxxxxdiH', seen.params[0])
    assert found == (-1, 2.5, 7, 65535)


def _extra(data: Any, size: int) -> tuple[Any, Any]:
    count = ctypes.c_size_t(size)
    return (ctypes.c_void_p * 5)(
        BUFFER, ctypes.addressof(data), SIZE, ctypes.addressof(count),
        END), count


def test_parameters_by_buffer(lib: Any) -> None:
    seen = Seen((8, 4))
    data = ctypes.create_string_buffer(b'abcdefgh1234', 12)
    with kernel_of(lib, seen.kernel) as kernel:
        extra, keep = _extra(data, 12)
        assert launch(lib, kernel, extra=extra) == 0
        extra, keep = _extra(data, 11)
        status = launch(lib, kernel, extra=extra)
        assert status == hostlib.INVALID_VALUE
        text = hostlib.error_text(lib, status)
        assert '12 bytes of parameters, 11 were given' in text
        assert keep.value == 11
    assert seen.params == [b'abcdefgh1234']


def test_a_kilobyte_by_value(lib: Any) -> None:
    seen = Seen((), param_bytes=1 << 12)
    offset, size = (ctypes.c_uint32 * 1)(0), (ctypes.c_uint32 * 1)(1 << 12)
    seen.kernel.struct.n_params = 1
    seen.kernel.struct.param_offset = offset
    seen.kernel.struct.param_size = size
    data = ctypes.create_string_buffer(b'x' * (1 << 12), 1 << 12)
    with kernel_of(lib, seen.kernel) as kernel:
        assert launch(lib, kernel, pointers(data)) == 0
    assert seen.params == [b'x' * (1 << 12)]


def test_missing_parameters(lib: Any) -> None:
    seen = Seen((4,))
    with kernel_of(lib, seen.kernel) as kernel:
        for params in (None, (ctypes.c_void_p * 1)(None)):
            status = launch(lib, kernel, params)
            assert status == hostlib.INVALID_VALUE
            assert 'straight' in hostlib.error_text(lib, status)
    assert not seen.params


def test_shape_reaches_the_kernel(lib: Any) -> None:
    seen = Seen()
    with kernel_of(lib, seen.kernel) as kernel:
        assert launch(lib, kernel, grid=(3, 2, 4), block=(4, 5, 6),
                      shared=1000) == 0
    assert set(seen.shapes) == {((3, 2, 4), (4, 5, 6), 1000)}
    assert sorted(seen.blocks) == list(range(24))


@pytest.mark.parametrize('grid, block, shared, text', [
    ((0, 1, 1), (1, 1, 1), 0, 'grid (0, 1, 1)'),
    ((1, 65536, 1), (1, 1, 1), 0, 'grid (1, 65536, 1)'),
    ((1, 1, 1), (0, 1, 1), 0, 'block (0, 1, 1)'),
    ((1, 1, 1), (32, 33, 1), 0, 'at most 1024 threads'),
    ((1, 1, 1), (1, 1, 65), 0, 'block (1, 1, 65)'),
    ((1, 1, 1), (32, 1, 1), 49153, '49153 bytes of dynamic shared'),
    ((1, 1, 1), (2**31, 2**31, 4), 0, 'block ('),
])
def test_impossible_shapes(lib: Any, grid: Any, block: Any, shared: int,
                           text: str) -> None:
    seen = Seen()
    with kernel_of(lib, seen.kernel) as kernel:
        status = launch(lib, kernel, grid=grid, block=block, shared=shared)
        assert status == hostlib.INVALID_VALUE
        assert text in hostlib.error_text(lib, status)
        assert 'straight' in hostlib.error_text(lib, status)
    assert not seen.blocks


def test_bound_of_the_kernel(lib: Any) -> None:
    seen = Seen((), max_threads_per_block=64)
    with kernel_of(lib, seen.kernel) as kernel:
        status = launch(lib, kernel, block=(65, 1, 1))
        assert status == hostlib.INVALID_VALUE
        assert 'at most 64' in hostlib.error_text(lib, status)
        assert launch(lib, kernel, block=(64, 1, 1)) == 0


def test_shared_memory_is_there_and_aligned(lib: Any) -> None:
    places = []

    def body(launch: hostlib.Launch, block: hostlib.Block, first: int,
             end: int) -> None:
        ctypes.memset(block.shared, 7, 5000 + 90000)
        places.append(block.shared)
    kernel = Straight(body, static_shared=5008)
    with kernel_of(lib, kernel) as handle:
        assert lib.cuFuncSetAttribute(handle, 8, 90000) == 0
        assert launch(lib, handle, shared=90000) == 0
    assert places[0] % 128 == 0


def test_stale_stream(lib: Any) -> None:
    with kernel_of(lib, Seen().kernel) as kernel:
        status = launch(lib, kernel, stream=ctypes.c_void_p(0x1234))
        assert status == hostlib.INVALID_HANDLE


def test_fault_ends_the_grid_and_is_reported_later(lib: Any) -> None:
    ran = []

    def body(launch: hostlib.Launch, block: hostlib.Block, first: int,
             end: int) -> None:
        ran.append(first)
        block.fault = 1
    with kernel_of(lib, Straight(body)) as kernel:
        assert launch(lib, kernel, grid=(100000, 1, 1)) == 0
        status = lib.cudaDeviceSynchronize()
        assert status == hostlib.LAUNCH_FAILED
        assert 'trap in kernel straight' in hostlib.error_text(lib, status)
        assert lib.cudaDeviceSynchronize() == 0
    assert len(ran) <= lib.hd_get_num_threads()


class Attribute(ctypes.Structure):
    _fields_ = [('id', ctypes.c_int), ('pad', ctypes.c_int),
                ('value', ctypes.c_uint32 * 16)]


class Config(ctypes.Structure):
    _fields_ = [('grid', ctypes.c_uint32 * 3), ('block', ctypes.c_uint32 * 3),
                ('shared', ctypes.c_uint32), ('stream', ctypes.c_void_p),
                ('attrs', ctypes.POINTER(Attribute)),
                ('count', ctypes.c_uint32)]


def test_extended_launch(lib: Any) -> None:
    seen = Seen((4,))
    value = ctypes.c_int32(5)
    config = Config((2, 1, 1), (32, 1, 1), 16)
    with kernel_of(lib, seen.kernel) as kernel:
        assert lib.cuLaunchKernelEx(ctypes.byref(config), kernel,
                                    pointers(value), None) == 0
        cooperative = Attribute(2, 0, (1,))
        config.attrs, config.count = ctypes.pointer(cooperative), 1
        status = lib.cuLaunchKernelEx(ctypes.byref(config), kernel,
                                      pointers(value), None)
        assert status == hostlib.NOT_SUPPORTED
        assert 'cooperative' in hostlib.error_text(lib, status)
    assert set(seen.shapes) == {((2, 1, 1), (32, 1, 1), 16)}
