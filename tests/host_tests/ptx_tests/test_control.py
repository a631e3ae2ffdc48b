"""Branches, guards, loops and the end of threads."""
from __future__ import annotations

import numpy
import pytest

from cupy_backends.host.ptx import errors
import runner

INDEX = numpy.arange(64, dtype='u8')


def test_loop() -> None:
    found = runner.threads('''
        mov.u32 %r1, 0; mov.u32 %r2, 0;
        AGAIN: setp.ge.u32 %p1, %r1, %r0; @%p1 bra DONE;
        add.s32 %r1, %r1, 1; add.s32 %r2, %r2, %r1; bra.uni AGAIN;
        DONE: st.global.u32 [%rd0], %r2;''')
    assert (found == INDEX * (INDEX + 1) // 2).all()


def test_registers_swap_around_a_loop() -> None:
    found = runner.threads('''
        mov.u32 %r1, 0; mov.u32 %r2, 1; mov.u32 %r3, 0;
        AGAIN: setp.ge.u32 %p1, %r3, %r0; @%p1 bra DONE;
        add.s32 %r4, %r1, %r2; mov.u32 %r1, %r2; mov.u32 %r2, %r4;
        add.s32 %r3, %r3, 1; bra AGAIN;
        DONE: st.global.u32 [%rd0], %r1;''', 20)
    fibonacci = [0, 1]
    while len(fibonacci) < 20:
        fibonacci.append(fibonacci[-2] + fibonacci[-1])
    assert found.tolist() == fibonacci


def test_guarded_move_keeps_the_old_value() -> None:
    found = runner.threads('''
        mov.u32 %r1, 5; setp.lt.u32 %p1, %r0, 3; @%p1 mov.u32 %r1, %r0;
        @!%p1 add.s32 %r1, %r1, %r1; st.global.u32 [%rd0], %r1;''', 6)
    assert found.tolist() == [0, 1, 2, 10, 10, 10]


def test_guarded_store_and_load() -> None:
    found = runner.threads('''
        mov.u32 %r1, 7; setp.eq.u32 %p1, %r0, 2; st.global.u32 [%rd0], 1;
        @%p1 ld.global.u32 %r1, [%rd0]; @!%p1 st.global.u32 [%rd0], %r1;''',
        4)
    assert found.tolist() == [7, 7, 1, 7]


def test_guarded_return_and_exit() -> None:
    found = runner.threads('''
        setp.lt.u32 %p1, %r0, 2; @%p1 ret; setp.gt.u32 %p1, %r0, 4;
        @%p1 exit; st.global.u32 [%rd0], 1;''', 8)
    assert found.tolist() == [0, 0, 1, 1, 1, 0, 0, 0]


def test_indexed_branch() -> None:
    found = runner.threads('''
        ts: .branchtargets A, B, C; and.b32 %r1, %r0, 3;
        setp.eq.u32 %p1, %r1, 3; @%p1 ret; brx.idx %r1, ts;
        A: st.global.u32 [%rd0], 10; ret;
        B: st.global.u32 [%rd0], 20; ret;
        C: st.global.u32 [%rd0], 30; ret;''', 8)
    assert found.tolist() == [10, 20, 30, 0] * 2


def test_unknown_label() -> None:
    with pytest.raises(errors.PTXSyntaxError, match='unknown label NOWHERE'):
        runner.Kernel(runner.entry('bra NOWHERE;'))


def test_carry_lives_across_blocks() -> None:
    found = runner.threads('''
        mov.u32 %r1, 0xffffffff; add.cc.u32 %r2, %r1, %r0;
        bra NEXT; NEXT: addc.u32 %r3, 0, 0; st.global.u32 [%rd0], %r3;''',
        4)
    assert found.tolist() == [0, 1, 1, 1]


def test_register_that_is_never_written() -> None:
    found = runner.threads('''
        setp.eq.u32 %p1, %r0, 1; @%p1 mov.u32 %r1, 9;
        setp.ne.u32 %p2, %r1, 0; @%p2 bra A;
        add.s32 %r1, %r1, 1; A: st.global.u32 [%rd0], %r1;''', 4)
    assert found.tolist() == [1, 9, 1, 1]


def test_trap_gives_up_the_block() -> None:
    out = numpy.zeros(8, 'u8')
    text = runner.entry('''setp.eq.u32 %p1, %r0, 5; @%p1 trap;
        st.global.u32 [%rd0], 1;''')
    runner.faults.clear()
    assert runner.Kernel(text)(1, 8, out) == 1
    line = text[:text.index('trap')].count('\n') + 1
    assert runner.faults == [('hd_rt_trap', 5, line)]
    assert out.tolist() == [1, 1, 1, 1, 1, 0, 0, 0]


def test_grid_of_three_dimensions() -> None:
    kernel = runner.Kernel(runner.entry('''
        mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y;
        mad.lo.s32 %r1, %r1, %r2, %r3; mov.u32 %r2, %nctaid.x;
        mov.u32 %r3, %ctaid.x; mad.lo.s32 %r1, %r1, %r2, %r3;
        mov.u32 %r2, %ntid.z; mov.u32 %r3, %tid.z;
        mad.lo.s32 %r1, %r1, %r2, %r3; mov.u32 %r2, %ntid.y;
        mov.u32 %r3, %tid.y; mad.lo.s32 %r1, %r1, %r2, %r3;
        mov.u32 %r2, %ntid.x; mad.lo.s32 %r1, %r1, %r2, %r0;
        ld.param.u64 %rd1, [p0]; mad.wide.u32 %rd1, %r1, 4, %rd1;
        st.global.u32 [%rd1], %r1;'''))
    out = numpy.zeros(2 * 3 * 4 * 5 * 6 * 7, 'u4')
    kernel((2, 3, 4), (5, 6, 7), out)
    assert (out == numpy.arange(out.size)).all()


@pytest.mark.parametrize(('name', 'expected'), [
    ('%laneid', INDEX % 32), ('%warpid', INDEX // 32),
    ('%lanemask_eq', 1 << INDEX % 32), ('%lanemask_lt', (1 << INDEX % 32) - 1),
    ('%lanemask_le', (2 << INDEX % 32) - 1),
    ('%lanemask_gt', 2 ** 32 - (2 << INDEX % 32)),
    ('%lanemask_ge', 2 ** 32 - (1 << INDEX % 32)),
    ('WARP_SZ', 0 * INDEX + 32), ('%smid', 0 * INDEX),
    ('%envreg3', 0 * INDEX)])
def test_special_register(name: str, expected: numpy.ndarray) -> None:
    found = runner.threads(f'mov.u32 %r1, {name}; st.global.u32 [%rd0], %r1;')
    assert found.tolist() == expected.tolist()
