"""The translator's callbacks: from PTX text to a launched kernel."""
from __future__ import annotations

from collections.abc import Iterator
import ctypes
import pathlib
from typing import Any

import hostlib
import numpy
import pytest
import translators

from cupy_backends.host.runtime import abi
from cupy_backends.host.runtime import bridge

HEADER = b'.version 8.0\n.target sm_80\n.address_size 64\n'

DOUBLE_IT = HEADER + b'''
.visible .entry twice(.param .u64 p, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 bra done;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r1, [%rd3];
    add.s32 %r1, %r1, %r1;
    st.global.u32 [%rd3], %r1;
done:
    ret;
}
'''

# Each thread gives its value to the next one of its block, through shared
# memory and a barrier, and to its neighbour by a shuffle.
EXCHANGE = HEADER + b'''
.visible .entry exchange(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 buffer[256];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, buffer;
    add.s32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    add.s32 %r5, %r1, 1;
    and.b32 %r5, %r5, 63;
    shl.b32 %r5, %r5, 2;
    add.s32 %r5, %r5, %r3;
    ld.shared.u32 %r6, [%r5];
    shfl.sync.bfly.b32 %r7|%p1, %r1, 1, 31, -1;
    mad.lo.s32 %r8, %r6, 1000, %r7;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r8;
    ret;
}
'''

UNSUPPORTED = HEADER + b'''
.visible .entry strange()
{
    frobnicate.u32 %r1;
    ret;
}
.visible .entry plain()
{
    ret;
}
'''

VARIABLES = HEADER + b'''
.global .align 4 .u32 numbers[3] = {7, 8, 9};
.global .align 8 .u64 pointer = numbers;
'''


@pytest.fixture(autouse=True)
def bridged(lib: Any, tmp_path: pathlib.Path,
            monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes the real translator that of the private library."""
    monkeypatch.setenv('CUPY_HOST_CACHE_DIR', str(tmp_path))
    translator = bridge.Translator(lib)
    translator.register()
    yield
    lib.hd_set_translator(None)


def _get(lib: Any, module: ctypes.c_void_p, name: bytes) -> tuple[int, str]:
    found = ctypes.c_void_p()
    status = lib.cuModuleGetFunction(ctypes.byref(found), module, name)
    return status, hostlib.error_text(lib, status)


def test_sizes_of_structures(lib: Any) -> None:
    for name, structure in abi.STRUCTURES.items():
        assert lib.hd_sizeof(name.encode()) == ctypes.sizeof(structure)
    assert lib.hd_sizeof(b'hd_unknown') == 0


def test_a_library_of_other_sources_is_refused(
        lib: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(abi.STRUCTURES, 'hd_stop', abi.Block)
    with pytest.raises(ImportError, match='build it anew'):
        abi.declare(lib)


def test_straight_kernel(lib: Any) -> None:
    data = numpy.arange(1000, dtype='i4')
    module = translators.load(lib, DOUBLE_IT)
    kernel = translators.function(lib, module, b'twice')
    address = ctypes.c_uint64(data.ctypes.data)
    count = ctypes.c_uint32(999)
    for _ in range(2):
        assert translators.launch(
            lib, kernel, translators.pointers(address, count),
            grid=(8, 1, 1), block=(128, 1, 1)) == 0
    numpy.testing.assert_array_equal(data[:999], 4 * numpy.arange(999))
    assert data[999] == 999
    lib.cuModuleUnload(module)


def test_kernel_with_barrier_and_shuffle(lib: Any) -> None:
    data = numpy.zeros(64, 'i4')
    module = translators.load(lib, EXCHANGE)
    kernel = translators.function(lib, module, b'exchange')
    address = ctypes.c_uint64(data.ctypes.data)
    assert translators.launch(lib, kernel, translators.pointers(address),
                              block=(64, 1, 1)) == 0
    threads = numpy.arange(64)
    expected = (threads + 1) % 64 * 1000 + (threads ^ 1)
    numpy.testing.assert_array_equal(data, expected)
    lib.cuModuleUnload(module)


def test_kernel_from_the_disk_cache(lib: Any,
                                    tmp_path: pathlib.Path) -> None:
    test_kernel_with_barrier_and_shuffle(lib)
    entries = sorted(tmp_path.iterdir())
    assert len(entries) == 1
    test_kernel_with_barrier_and_shuffle(lib)
    assert sorted(tmp_path.iterdir()) == entries


def test_unsupported_instruction_is_named(lib: Any) -> None:
    module = translators.load(lib, UNSUPPORTED)
    status, text = _get(lib, module, b'strange')
    assert status == hostlib.NOT_SUPPORTED
    assert 'frobnicate.u32' in text and 'strange' in text
    assert 'PTX line 7' in text
    # Another kernel of the module is not affected.
    assert _get(lib, module, b'plain')[0] == 0
    lib.cuModuleUnload(module)


def test_unknown_kernel(lib: Any) -> None:
    module = translators.load(lib, UNSUPPORTED)
    status, text = _get(lib, module, b'nobody')
    assert status == hostlib.NOT_FOUND
    assert 'nobody' in text
    lib.cuModuleUnload(module)


@pytest.mark.parametrize('image', [b'this is not PTX', b'', b'\xff\xfe\x01'])
def test_what_is_not_ptx(lib: Any, image: bytes) -> None:
    module = ctypes.c_void_p()
    status = lib.cuModuleLoadData(ctypes.byref(module), image)
    assert status in (200, 218)
    assert hostlib.error_text(lib, status)


def test_variables_and_their_addresses(lib: Any) -> None:
    module = translators.load(lib, VARIABLES)
    places = {}
    for name, size in ((b'numbers', 12), (b'pointer', 8)):
        place, count = ctypes.c_void_p(), ctypes.c_size_t()
        assert lib.cuModuleGetGlobal_v2(
            ctypes.byref(place), ctypes.byref(count), module, name) == 0
        assert count.value == size
        places[name] = place.value or 0
    numbers = (ctypes.c_uint32 * 3).from_address(places[b'numbers'])
    pointer = ctypes.c_uint64.from_address(places[b'pointer'])
    assert list(numbers) == [7, 8, 9]
    assert pointer.value == places[b'numbers']
    status = lib.cuModuleGetGlobal_v2(None, None, module, b'nothing')
    assert status == hostlib.NOT_FOUND
    lib.cuModuleUnload(module)


def test_modules_are_forgotten_when_unloaded(lib: Any) -> None:
    translator = bridge.Translator(lib)
    translator.register()
    module = translators.load(lib, DOUBLE_IT)
    translators.function(lib, module, b'twice')
    assert len(translator._modules) == 1
    lib.cuModuleUnload(module)
    assert not translator._modules


def test_exceptions_of_the_translator_stay_inside(
        lib: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise ZeroDivisionError('oops')
    monkeypatch.setattr(bridge.jit, 'compile_kernel', fail)
    module = translators.load(lib, DOUBLE_IT)
    status, text = _get(lib, module, b'twice')
    assert status == 999
    assert text == 'the host device failed: ZeroDivisionError: oops'
    lib.cuModuleUnload(module)
