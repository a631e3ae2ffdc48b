"""Loading modules, looking up kernels and variables, linking."""
from __future__ import annotations

import ctypes
import pathlib
from typing import Any

import hostlib
import pytest
import translators
from translators import function
from translators import load
from translators import Straight


def _nothing(*args: Any) -> None:
    pass


def test_kernels_are_translated_when_first_asked_for(lib: Any) -> None:
    with translators.translator(lib, {'k': Straight(_nothing)}) as t:
        module = load(lib, b'.version 8.0\n//k')
        assert t.log == [('load', b'.version 8.0\n//k')]
        first, again = function(lib, module, b'k'), function(lib, module,
                                                             b'k')
        assert first.value == again.value
        assert t.log[1:] == [('kernel', b'k')]
        assert lib.cuModuleUnload(module) == 0
        assert t.log[-1][0] == 'unload'


def test_unknown_kernel(lib: Any) -> None:
    with translators.translator(lib, {}):
        module, found = load(lib), ctypes.c_void_p()
        status = lib.cuModuleGetFunction(ctypes.byref(found), module, b'f')
        assert status == hostlib.NOT_FOUND
        # Programs look for the usual text.
        assert hostlib.error_text(lib, status) == (
            'named symbol not found: the module has no kernel f')
        lib.cuModuleUnload(module)


def test_handles_of_an_unloaded_module(lib: Any) -> None:
    with translators.translator(lib, {'k': Straight(_nothing)}):
        module = load(lib)
        kernel = function(lib, module, b'k')
        lib.cuModuleUnload(module)
        assert lib.cuModuleUnload(module) == hostlib.INVALID_HANDLE
        assert translators.launch(lib, kernel) == hostlib.INVALID_HANDLE


def test_errors_of_the_translator_are_handed_on(lib: Any) -> None:
    with translators.translator(lib, {}):
        module = ctypes.c_void_p()
        status = lib.cuModuleLoadData(
            ctypes.byref(module), b'.version 8.0\n\nnonsense')
        assert status == 218
        assert hostlib.error_text(lib, status) == (
            'a PTX JIT compilation failed: PTX line 3: nonsense')


def test_kernel_of_another_abi_is_refused(lib: Any) -> None:
    kernels = {'k': Straight(_nothing, abi_version=99)}
    with translators.translator(lib, kernels):
        module, found = load(lib), ctypes.c_void_p()
        status = lib.cuModuleGetFunction(ctypes.byref(found), module, b'k')
        assert status == 200
        assert 'ABI 99' in hostlib.error_text(lib, status)
        lib.cuModuleUnload(module)


def test_without_a_translator(lib: Any) -> None:
    module = ctypes.c_void_p()
    status = lib.cuModuleLoadData(ctypes.byref(module), b'.version 8.0')
    assert status != 0
    assert 'activate()' in hostlib.error_text(lib, status)


@pytest.mark.parametrize('image, what', [
    (b'\x7fELF\x02\x01', 'cubin'), (b'\x50\xed\x55\xba', 'fat binary'),
    (b'\xed\x43\x4e\x7f', 'LTO-IR')])
def test_machine_code_cannot_run(lib: Any, image: bytes, what: str) -> None:
    module = ctypes.c_void_p()
    for loader in (lib.cuModuleLoadData, lib.cuModuleLoadFatBinary):
        status = loader(ctypes.byref(module), image)
        assert status == hostlib.NO_BINARY
        text = hostlib.error_text(lib, status)
        assert what in text and 'compute_80' in text


def test_variables(lib: Any) -> None:
    arena = bytes(range(48))
    with translators.translator(lib, {}, arena=arena,
                                globals_={'v': (16, 8)}):
        module = load(lib)
        pointer, size = ctypes.c_void_p(), ctypes.c_size_t()
        status = lib.cuModuleGetGlobal_v2(
            ctypes.byref(pointer), ctypes.byref(size), module, b'v')
        assert (status, size.value) == (0, 8)
        assert ctypes.string_at(pointer.value or 0, 8) == arena[16:24]
        status = lib.cuModuleGetGlobal_v2(
            ctypes.byref(pointer), ctypes.byref(size), module, b'w')
        assert status == hostlib.NOT_FOUND
        lib.cuModuleUnload(module)


def test_each_module_has_its_own_variables(lib: Any) -> None:
    with translators.translator(lib, {}, arena=b'\0' * 8,
                                globals_={'v': (0, 8)}):
        modules, pointers = [load(lib), load(lib)], []
        for module in modules:
            pointer = ctypes.c_void_p()
            lib.cuModuleGetGlobal_v2(ctypes.byref(pointer), None, module,
                                     b'v')
            pointers.append(pointer.value)
            lib.cuModuleUnload(module)
        assert len(set(pointers)) == 2


def test_module_from_a_file(lib: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / 'k.ptx'
    path.write_bytes(b'.version 8.0\n//file')
    module = ctypes.c_void_p()
    with translators.translator(lib, {}) as t:
        assert lib.cuModuleLoad(ctypes.byref(module), str(path).encode()) == 0
        assert t.log == [('load', b'.version 8.0\n//file')]
        lib.cuModuleUnload(module)
        status = lib.cuModuleLoad(ctypes.byref(module), b'/no/such/file')
        assert status == 301
        assert '/no/such/file' in hostlib.error_text(lib, status)


def test_libraries(lib: Any) -> None:
    """The interface of cuda.compute and cuda.core."""
    library, kernel, found = (ctypes.c_void_p() for _ in range(3))
    with translators.translator(lib, {'k': Straight(_nothing)}):
        assert lib.cuLibraryLoadData(
            ctypes.byref(library), b'.version 8.0', None, None, 0, None,
            None, 0) == 0
        assert lib.cuLibraryGetKernel(ctypes.byref(kernel), library,
                                      b'k') == 0
        assert lib.cuKernelGetFunction(ctypes.byref(found), kernel) == 0
        assert translators.launch(lib, found) == 0
        assert lib.cuLibraryUnload(library) == 0


def _linker(lib: Any) -> ctypes.c_void_p:
    state = ctypes.c_void_p()
    assert lib.cuLinkCreate_v2(0, None, None, ctypes.byref(state)) == 0
    return state


def _add(lib: Any, state: ctypes.c_void_p, kind: int, data: bytes) -> int:
    status: int = lib.cuLinkAddData_v2(
        state, kind, data, ctypes.c_size_t(len(data)), b'name', 0, None,
        None)
    return status


def test_linking_one_ptx_text(lib: Any) -> None:
    state, image, size = _linker(lib), ctypes.c_void_p(), ctypes.c_size_t()
    assert _add(lib, state, 1, b'.version 8.0') == 0
    assert lib.cuLinkComplete(state, ctypes.byref(image),
                              ctypes.byref(size)) == 0
    assert ctypes.string_at(image.value or 0, size.value) == (
        b'.version 8.0\0')
    assert lib.cuLinkDestroy(state) == 0
    assert lib.cuLinkDestroy(state) == hostlib.INVALID_HANDLE


@pytest.mark.parametrize('kinds', [[1, 1], [0], [4]])
def test_other_linking_is_not_supported(lib: Any, kinds: list[int]) -> None:
    state = _linker(lib)
    statuses = [_add(lib, state, kind, b'.version 8.0') for kind in kinds]
    assert statuses[-1] == hostlib.NOT_SUPPORTED
    assert 'cuLink' in hostlib.error_text(lib, statuses[-1])
    lib.cuLinkDestroy(state)


def test_function_attributes(lib: Any) -> None:
    kernels = {'k': Straight(_nothing, static_shared=4096, local_bytes=24,
                             max_threads_per_block=256)}
    with translators.translator(lib, kernels):
        module = load(lib)
        kernel, value = function(lib, module, b'k'), ctypes.c_int()

        def get(number: int) -> int:
            assert lib.cuFuncGetAttribute(
                ctypes.byref(value), number, kernel) == 0
            return value.value
        assert [get(n) for n in (0, 1, 3, 5, 6)] == [256, 4096, 24, 80, 80]
        assert get(8) == (48 << 10) - 4096
        assert lib.cuFuncSetAttribute(kernel, 8, 100000) == 0
        assert get(8) == 100000
        status = lib.cuFuncSetAttribute(kernel, 8, 170000)
        assert status == hostlib.INVALID_VALUE
        assert '170000' in hostlib.error_text(lib, status)
        lib.cuModuleUnload(module)


def test_occupancy(lib: Any) -> None:
    kernels = {'k': Straight(_nothing, static_shared=16 << 10)}
    with translators.translator(lib, kernels):
        module = load(lib)
        kernel = function(lib, module, b'k')
        blocks, grid, block = (ctypes.c_int() for _ in range(3))
        for size, shared, expected in ((1024, 0, 2), (32, 0, 9),
                                       (128, 64 << 10, 2)):
            assert lib.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                ctypes.byref(blocks), kernel, size,
                ctypes.c_size_t(shared)) == 0
            assert blocks.value == expected
        assert lib.cuOccupancyMaxPotentialBlockSize(
            ctypes.byref(grid), ctypes.byref(block), kernel, None,
            ctypes.c_size_t(0), 0) == 0
        assert block.value == 1024
        assert grid.value == 2 * lib.hd_get_num_threads()
        lib.cuModuleUnload(module)
