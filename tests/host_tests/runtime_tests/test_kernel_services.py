"""What kernels call: printf, assert, trap, malloc, clocks, half floats."""
from __future__ import annotations

import ctypes
import struct
from typing import Any

import hostlib
import numpy
import pytest


def printed(lib: Any, capfd: Any, form: bytes, layout: str,
            *values: Any) -> tuple[str, int]:
    data = struct.pack(layout, *values)
    count = lib.hd_rt_vprintf(form, data)
    lib.cudaDeviceSynchronize()
    out: str = capfd.readouterr().out
    return out, count


@pytest.mark.parametrize('form, layout, values, expected', [
    (b'plain', '', (), 'plain'),
    (b'%d %u\n', '@iI', (-5, 2**32 - 1), '-5 4294967295\n'),
    (b'%lld|%d', '@qi', (-2**40, 3), f'{-2**40}|3'),
    (b'%d|%lld', '@iq', (3, 2**40), f'3|{2**40}'),
    (b'%d %f %d', '@idi', (1, 2.5, 3), '1 2.500000 3'),
    (b'%5.2f|%-6d|%+d', '@dii', (3.14159, 7, 8), ' 3.14|7     |+8'),
    (b'%*.*f', '@iid', (8, 3, 1.5), '   1.500'),
    (b'%x %X %o %c%%', '@iiii', (255, 255, 8, 65), 'ff FF 10 A%'),
    (b'%zu %hd', '@Qi', (2**33, -7), f'{2**33} -7'),
    (b'%g %e', '@dd', (1e-9, 2.0), '1e-09 2.000000e+00'),
    (b'100%', '', (), '100%'),
])
def test_printf(lib: Any, capfd: Any, form: bytes, layout: str,
                values: Any, expected: str) -> None:
    out, count = printed(lib, capfd, form, layout, *values)
    assert out == expected
    assert count == len(values)


def test_printf_strings(lib: Any, capfd: Any) -> None:
    text = ctypes.create_string_buffer(b'text' * 100)
    out, _ = printed(lib, capfd, b'%d %s %s|', '@iPP', 1,
                     ctypes.addressof(text), 0)
    assert out == '1 ' + 'text' * 100 + ' (null)|'


def test_printf_without_a_format(lib: Any) -> None:
    assert lib.hd_rt_vprintf(None, None) == -1


def _launch_and_block() -> tuple[hostlib.Launch, hostlib.Block]:
    launch = hostlib.Launch((2, 1, 1), (8, 4, 1))
    return launch, hostlib.Block(None, (1, 0, 0), 0, 0)


def test_assert(lib: Any, capfd: Any) -> None:
    launch, block = _launch_and_block()
    lib.hd_rt_assertfail(
        ctypes.byref(launch), ctypes.byref(block), 19, b'n < 3', b'file.cu',
        21, b'void k(int)', ctypes.c_uint64(1))
    expected = ('file.cu:21: void k(int): block: [1,0,0], thread: [3,2,0] '
                'Assertion `n < 3` failed.')
    assert block.fault == 2
    assert capfd.readouterr().err == expected + '\n'
    status = lib.cudaDeviceSynchronize()
    assert status == hostlib.ASSERT
    assert hostlib.error_text(lib, status) == (
        'device-side assert triggered: ' + expected)
    assert lib.cudaDeviceSynchronize() == 0  # reported once


def test_trap(lib: Any) -> None:
    launch, block = _launch_and_block()
    lib.hd_rt_trap(ctypes.byref(launch), ctypes.byref(block), 0, 77)
    assert block.fault == 1
    pointer = ctypes.c_void_p()
    lib.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(4))
    status = lib.cudaMemset(pointer, 0, ctypes.c_size_t(4))
    assert status == hostlib.LAUNCH_FAILED
    assert 'PTX line 77' in hostlib.error_text(lib, status)
    assert lib.cudaFree(pointer) == 0


def test_heap_of_kernels_is_limited(lib: Any) -> None:
    size = ctypes.c_size_t()
    lib.cudaDeviceGetLimit(ctypes.byref(size), 2)
    assert lib.hd_rt_malloc(size.value + 1) is None
    half = size.value // 2
    first = lib.hd_rt_malloc(half)
    assert first and first % 16 == 0
    assert lib.hd_rt_malloc(half) is None
    lib.hd_rt_free(first)
    second = lib.hd_rt_malloc(half)
    assert second
    lib.hd_rt_free(second)
    lib.hd_rt_free(None)


def test_free_of_foreign_memory_is_a_fault(lib: Any) -> None:
    memory = ctypes.create_string_buffer(64)
    lib.hd_rt_free(ctypes.addressof(memory) + 32)
    assert lib.cudaDeviceSynchronize() == hostlib.LAUNCH_FAILED


def test_clocks_go_forward(lib: Any) -> None:
    first = lib.hd_rt_clock64()
    assert lib.hd_rt_clock64() >= first > 0


def _as_bits(value: float) -> int:
    return int(struct.unpack('<I', struct.pack('<f', value))[0])


def test_every_half_widens_as_in_numpy(lib: Any) -> None:
    lib.__extendhfsf2 = lib['__extendhfsf2']
    widen = lib['__extendhfsf2']
    widen.restype, widen.argtypes = ctypes.c_float, [ctypes.c_float]
    halves = numpy.arange(1 << 16, dtype='u2')
    expected = halves.view('f2').astype('f4').view('u4')
    registers = halves.astype('u4').view('f4')
    nans = numpy.isnan(halves.view('f2'))
    for n in numpy.flatnonzero(~nans):
        assert _as_bits(widen(registers[n])) == expected[n]


@pytest.mark.parametrize('name, dtype', [
    ('__truncdfhf2', 'f8'), ('__truncsfhf2', 'f4')])
def test_rounding_to_half_as_in_numpy(lib: Any, name: str,
                                      dtype: str) -> None:
    kind = ctypes.c_double if dtype == 'f8' else ctypes.c_float
    narrow = lib[name]
    narrow.restype, narrow.argtypes = ctypes.c_float, [kind]
    # Halfway points, their neighbours and the range's ends decide.
    halves = numpy.arange(0, 0x7c01, 7, dtype='u2').view('f2').astype(dtype)
    middles = (halves[1:] + halves[:-1]) / 2
    values = numpy.concatenate([
        halves, middles, numpy.nextafter(middles, 0),
        numpy.nextafter(middles, numpy.inf), [65519.99, 65520, 1e30, 1e-30]])
    values = numpy.concatenate([values, -values]).astype(dtype)
    with numpy.errstate(over='ignore'):
        expected = values.astype('f2').view('u2')
    found = [_as_bits(narrow(v)) & 0xffff for v in values]
    numpy.testing.assert_array_equal(found, expected)
