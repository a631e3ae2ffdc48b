"""A kernel that touches memory which is not there ends with an error."""
from __future__ import annotations

import pathlib
import subprocess
import sys
import textwrap
from typing import Any

import hostlib
from native import Native
import pytest

ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION = 700, 715
_NULL = 'store volatile i32 1, ptr inttoptr (i64 64 to ptr)\nret void'
_WILD = 'store volatile i32 1, ptr inttoptr (i64 -3689348814741910324 to ptr)'


def test_address_that_is_not_mapped(lib: Any) -> None:
    status = Native(_NULL).run(lib)
    assert status == ILLEGAL_ADDRESS
    assert hostlib.error_text(lib, status) == (
        'an illegal memory access was encountered in kernel native '
        '(address 0x40)')


def test_address_that_cannot_exist(lib: Any) -> None:
    status = Native(_WILD + '\nret void').run(lib)
    assert status == ILLEGAL_ADDRESS
    assert hostlib.error_text(lib, status).endswith('in kernel native')


def test_illegal_instruction(lib: Any) -> None:
    status = Native('call void @llvm.trap()\nret void').run(lib)
    assert status == ILLEGAL_INSTRUCTION


def test_on_all_threads_and_again_and_again(lib: Any) -> None:
    before = lib.hd_get_num_threads()
    lib.hd_set_num_threads(4)
    try:
        for _ in range(20):
            assert Native(_NULL).run(lib, grid=100000) == ILLEGAL_ADDRESS
        assert Native('ret void').run(lib, grid=100000) == 0
    finally:
        lib.hd_set_num_threads(before)


_SCRIPT = '''
    import ctypes, faulthandler, sys
    sys.path.insert(0, sys.argv[2])
    import hostlib
    from native import Native
    if sys.argv[3] == 'before':
        faulthandler.enable()
    lib = hostlib.load(sys.argv[1])
    assert Native('ret void').run(lib) == 0
    if sys.argv[3] == 'after':
        faulthandler.enable()
    if sys.argv[4] == 'python':
        ctypes.string_at(64)
    null = 'store volatile i32 1, ptr inttoptr (i64 64 to ptr)'
    print(Native(null + ' ret void').run(lib))
'''


def _run(lib: Any, when: str, who: str) -> subprocess.CompletedProcess[str]:
    folder = pathlib.Path(__file__).parent
    return subprocess.run(
        [sys.executable, '-c', textwrap.dedent(_SCRIPT), lib._name,
         str(folder), when, who], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize('when', ['before', 'never'])
def test_kernel_of_a_process_with_a_fault_handler(lib: Any,
                                                  when: str) -> None:
    done = _run(lib, when, 'kernel')
    assert (done.stdout, done.stderr, done.returncode) == ('700\n', '', 0)


@pytest.mark.parametrize('when', ['before', 'never', 'after'])
def test_crashes_outside_of_kernels_are_not_hidden(lib: Any,
                                                   when: str) -> None:
    done = _run(lib, when, 'python')
    assert done.returncode == -11
    assert ('Segmentation fault' in done.stderr) == (when != 'never')
