"""Several PTX texts become one."""
from __future__ import annotations

import numpy
import pytest

from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import link
import runner

EXTERN = '.extern .func (.param .b32 r) f(.param .b32 a);\n'
CALL = '''{ .param .b32 param0; st.param.b32 [param0+0], %r0;
    .param .b32 retval0; call.uni (retval0), f, (param0);
    ld.param.b32 %r1, [retval0+0]; } st.global.u32 [%rd0], %r1;'''
KERNEL = runner.entry(CALL, before=EXTERN)


def function(body: str, linkage: str = '.visible', name: str = 'f') -> str:
    return (f'{runner.HEADER}{linkage} .func (.param .b32 r) {name}'
            f'(.param .b32 a) {{ .reg .b32 %r<4>; .reg .b64 %rd<3>; '
            f'ld.param.u32 %r1, [a]; {body} st.param.b32 [r], %r2; ret; }}\n')


def adds(number: int, linkage: str = '.visible', name: str = 'f') -> str:
    return function(f'add.s32 %r2, %r1, {number};', linkage, name)


def run(*texts: str) -> list[int]:
    """Returns the kernel's results for the operands 0 and 1."""
    out = numpy.zeros(2, 'u8')
    runner.Kernel(link.link(texts))(1, 2, out)
    return out.tolist()


def test_one_text_is_left_as_it_is() -> None:
    assert link.link(['anything']) == 'anything'


def test_function_of_another_text() -> None:
    assert run(KERNEL, adds(5)) == run(adds(5), KERNEL) == [5, 6]


def test_a_visible_function_wins_over_a_weak_one() -> None:
    strong, weak = adds(7), adds(1, '.weak')
    assert run(KERNEL, strong, weak) == run(weak, KERNEL, strong) == [7, 8]


def test_one_of_several_weak_functions_is_taken() -> None:
    assert run(KERNEL, adds(3, '.weak'), adds(3, '.weak')) == [3, 4]


def test_a_function_defined_twice() -> None:
    with pytest.raises(errors.DuplicateSymbol, match='^f is defined in two'):
        link.link([KERNEL, adds(1), adds(2)])


def test_a_kernel_defined_twice() -> None:
    with pytest.raises(errors.DuplicateSymbol, match='defined in two'):
        link.link([KERNEL, KERNEL])


def test_local_functions_of_one_name_stay_apart() -> None:
    local = KERNEL.replace(EXTERN, adds(4, '').replace(runner.HEADER, ''))
    assert run(local, adds(9, '')) == run(adds(9), local) == [4, 5]


def test_local_variables_of_one_name_stay_apart() -> None:
    def table(value: int, linkage: str, name: str) -> str:
        text = function('mov.u64 %rd1, tab; ld.global.u32 %r2, [tab];'
                        'ld.global.u32 %r3, [%rd1];'
                        'add.s32 %r2, %r2, %r3;', linkage, name)
        return text.replace(linkage + ' .func', (
            f'.global .u32 tab = {value};\n{linkage} .func'))
    assert run(KERNEL, table(10, '.visible', 'f'),
               table(20, '.visible', 'g')) == [20, 20]
    assert run(KERNEL, table(20, '.visible', 'g'),
               table(10, '.visible', 'f')) == [20, 20]


def test_names_that_contain_a_renamed_one_are_left_alone() -> None:
    first = ''.join(f'.global .u32 {name};\n'
                    for name in ('tab', '%tab', 'tab$tab', 'table'))
    linked = link.link([first, '.global .u32 tab;']).split()
    assert [word for word in linked if 'tab' in word] == [
        'tab$link0;', '%tab;', 'tab$tab;', 'table;', 'tab$link1;']


def test_variable_of_another_text() -> None:
    reader = function('ld.global.u32 %r2, [count];').replace(
        '.visible', '.extern .global .u32 count;\n.visible')
    assert run(KERNEL, reader, '.visible .global .u32 count = 6;') == [6, 6]
    assert run('.weak .global .u32 count = 6;', KERNEL, reader,
               '.visible .global .u32 count = 8;') == [8, 8]


def test_a_text_that_is_none() -> None:
    with pytest.raises(errors.PTXSyntaxError, match='nonsense'):
        link.link([KERNEL, 'nonsense'])
