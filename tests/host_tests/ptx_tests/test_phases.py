"""Barriers and warp operations: kernels cut at their stops."""
from __future__ import annotations

from typing import Any

import numpy
import pytest

import runner

INDEX = numpy.arange(64, dtype='u8')
LANE = numpy.arange(64) % 32


def run(body: str, count: int = 64, **options: Any) -> Any:
    return runner.threads(body, count, **options)


def test_barrier_orders_shared_memory() -> None:
    found = run('''
        .shared .u32 s[64]; mov.u32 %r1, s; mad.lo.s32 %r2, %r0, 4, %r1;
        st.shared.u32 [%r2], %r0; bar.sync 0; sub.s32 %r3, 63, %r0;
        mad.lo.s32 %r2, %r3, 4, %r1; ld.shared.u32 %r4, [%r2];
        st.global.u32 [%rd0], %r4;''')
    assert found.tolist() == (63 - INDEX).tolist()


def test_barrier_in_a_loop() -> None:
    found = run('''
        .shared .u32 s[128]; mov.u32 %r1, s; mad.lo.s32 %r1, %r0, 4, %r1;
        mov.u32 %r2, 1; mov.u32 %r3, 32; st.shared.u32 [%r1], %r0;
        st.shared.u32 [%r1+256], 0;
        LOOP: bar.sync 0; shl.b32 %r5, %r3, 2; add.s32 %r5, %r5, %r1;
        setp.ge.u32 %p1, %r0, %r3; @%p1 bra SKIP;
        ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r1];
        add.s32 %r6, %r6, %r7; st.shared.u32 [%r1], %r6;
        SKIP: shr.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra LOOP;
        bar.sync 0; ld.shared.u32 %r8, [s]; st.global.u32 [%rd0], %r8;''')
    assert (found == INDEX.sum()).all()


@pytest.mark.parametrize('opcode', [
    'bar.sync 0;', 'barrier.sync 0;', 'bar.cta.sync 0;',
    'barrier.cta.sync.aligned 0;', 'mov.u32 %r9, 0; bar.sync %r9;',
    'bar.sync 0, 64;'])
def test_spellings_of_the_barrier(opcode: str) -> None:
    found = run(f'''
        .shared .u32 s; st.shared.u32 [s], %r0; {opcode}
        ld.shared.u32 %r1, [s]; st.global.u32 [%rd0], %r1;''')
    assert (found == 63).all()


def test_guarded_barrier() -> None:
    found = run('''
        .shared .u32 s; setp.lt.u32 %p1, %r0, 100; st.shared.u32 [s], %r0;
        @%p1 bar.sync 0; ld.shared.u32 %r1, [s];
        st.global.u32 [%rd0], %r1;''')
    assert (found == 63).all()


def test_threads_that_left_are_not_waited_for() -> None:
    found = run('''
        .shared .u32 s; setp.ge.u32 %p1, %r0, 40; @%p1 exit;
        st.shared.u32 [s], %r0; bar.sync 0; ld.shared.u32 %r1, [s];
        st.global.u32 [%rd0], %r1;''')
    assert found.tolist() == [39] * 40 + [0] * 24


@pytest.mark.parametrize(('op', 'expected'), [
    ('popc.u32', 7), ('and.pred', 0), ('or.pred', 1)])
def test_barrier_with_reduction(op: str, expected: int) -> None:
    dest = '%r1' if op == 'popc.u32' else '%p2'
    found = run(f'''
        setp.ge.u32 %p1, %r0, 7; mov.u32 %r1, 0;
        bar.red.{op} {dest}, 0, !%p1;
        {'' if op == 'popc.u32' else 'selp.b32 %r1, 1, 0, %p2;'}
        st.global.u32 [%rd0], %r1;''')
    assert (found == expected).all()


SHUFFLES = {
    'up': lambda lane, b: numpy.where(lane >= b, lane - b, lane),
    'down': lambda lane, b: numpy.where(lane + b < 32, lane + b, lane),
    'bfly': lambda lane, b: lane ^ b, 'idx': lambda lane, b: 0 * lane + b}


@pytest.mark.parametrize('mode', SHUFFLES)
@pytest.mark.parametrize('b', [0, 1, 5, 16])
def test_shuffle(mode: str, b: int) -> None:
    clamp = 0 if mode == 'up' else 31
    found = run(f'''
        mov.u32 %r1, {clamp}; mul.lo.s32 %r2, %r0, 10;
        shfl.sync.{mode}.b32 %r3|%p1, %r2, {b}, %r1, -1;
        selp.b32 %r4, 1, 0, %p1; st.global.v2.u32 [%rd0], {{%r3, %r4}};''',
        dtype='u4').reshape(64, 2)
    source = SHUFFLES[mode](LANE, b)
    assert found[:, 0].tolist() == (10 * (INDEX // 32 * 32 + source)).tolist()
    inside = {'up': LANE >= b, 'down': LANE + b < 32}.get(mode, LANE >= 0)
    assert found[:, 1].tolist() == inside.tolist()


def test_shuffle_in_segments() -> None:
    found = run('''
        shfl.sync.down.b32 %r1, %r0, 2, 0x1807, 0xffffffff;
        st.global.u32 [%rd0], %r1;''', 32)
    inside = INDEX[:32] % 8 + 2 < 8
    assert found.tolist() == (INDEX[:32] + 2 * inside).tolist()


def test_shuffle_of_a_float_with_lane_and_mask_in_registers() -> None:
    found = run('''
        mov.b32 %f1, %r0; xor.b32 %r1, %r0, 3; mov.u32 %r2, 31;
        activemask.b32 %r3; shfl.sync.idx.b32 %f2, %f1, %r1, %r2, %r3;
        st.global.f32 [%rd0], %f2;''')
    assert found.tolist() == (INDEX ^ 3).tolist()


def test_warp_operation_of_one_branch() -> None:
    found = run('''
        setp.lt.u32 %p1, %r0, 4; @%p1 bra FEW; bra DONE;
        FEW: shfl.sync.bfly.b32 %r1, %r0, 1, 31, 15;
        st.global.u32 [%rd0], %r1; DONE: ret;''', 32)
    assert found.tolist() == [1, 0, 3, 2] + [0] * 28


@pytest.mark.parametrize(('mode', 'limit', 'expected'), [
    ('all', 32, 1), ('all', 31, 0), ('any', 1, 1), ('any', 0, 0),
    ('uni', 32, 1), ('uni', 0, 1), ('uni', 5, 0)])
def test_vote(mode: str, limit: int, expected: int) -> None:
    found = run(f'''
        setp.lt.u32 %p1, %r0, {limit};
        vote.sync.{mode}.pred %p2, %p1, 0xffffffff;
        selp.b32 %r1, 1, 0, %p2; st.global.u32 [%rd0], %r1;''', 32)
    assert (found == expected).all()


def test_ballot() -> None:
    found = run('''
        and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;
        vote.sync.ballot.b32 %r2, !%p1, -1; st.global.u32 [%rd0], %r2;''')
    assert (found == 0xaaaaaaaa).all()


@pytest.mark.parametrize('bits', ['b32', 'b64'])
def test_match_any(bits: str) -> None:
    reg = {'b32': '%r1', 'b64': '%rd1'}[bits]
    found = run(f'''
        and.b32 %r1, %r0, 1; cvt.u64.u32 %rd1, %r1; shl.b64 %rd1, %rd1, 40;
        match.any.sync.{bits} %r2, {reg}, -1; st.global.u32 [%rd0], %r2;''')
    assert found.tolist() == [0x55555555, 0xaaaaaaaa] * 32


@pytest.mark.parametrize(('value', 'expected'), [
    ('7', [0xffffffff, 1]), ('%r0', [0, 0])])
def test_match_all(value: str, expected: list[int]) -> None:
    found = run(f'''
        mov.u32 %r1, {value}; match.all.sync.b32 %r2|%p1, %r1, -1;
        selp.b32 %r3, 1, 0, %p1; st.global.v2.u32 [%rd0], {{%r2, %r3}};''',
        32, dtype='u4').reshape(32, 2)
    assert found.tolist() == [expected] * 32


@pytest.mark.parametrize(('op', 'expected'), [
    ('add.u32', sum(range(-5, 27))), ('add.s32', sum(range(-5, 27))),
    ('min.s32', -5), ('max.s32', 26), ('min.u32', 0), ('max.u32', -1),
    ('and.b32', 0), ('or.b32', -1), ('xor.b32', -5 ^ -4 ^ -3 ^ -2 ^ -1 ^ 26
     ^ 25 ^ 24)])
def test_redux(op: str, expected: int) -> None:
    found = run(f'''
        sub.s32 %r1, %r0, 5; redux.sync.{op} %r2, %r1, -1;
        st.global.u32 [%rd0], %r2;''', 32)
    assert (found == expected % 2 ** 32).all()


def test_activemask_and_elect() -> None:
    found = run('''
        activemask.b32 %r1; elect.sync %r2|%p1, -1; selp.b32 %r3, 1, 0, %p1;
        mad.lo.s32 %r2, %r2, 2, %r3; st.global.v2.u32 [%rd0], {%r1, %r2};''',
        20, dtype='u4').reshape(20, 2)
    assert found.tolist() == [[0xfffff, 1]] + [[0xfffff, 0]] * 19


def test_values_of_all_types_outlast_a_stop() -> None:
    found = run('''
        cvt.u16.u32 %h1, %r0; cvt.u64.u32 %rd1, %r0; mov.b32 %f1, %r0;
        and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 1; mov.b64 %fd1, %rd1;
        ld.global.u64 %rd9, [%rd0]; add.s64 %rd1, %rd1, %rd9;
        bar.sync 0;
        cvt.u32.u16 %r2, %h1; mov.b32 %r3, %f1; mov.b64 %rd2, %fd1;
        add.s64 %rd2, %rd2, %rd1; cvt.u32.u64 %r4, %rd2;
        add.s32 %r2, %r2, %r3; add.s32 %r2, %r2, %r4;
        selp.b32 %r2, %r2, 0, %p1; st.global.u32 [%rd0], %r2;''')
    assert (found == INDEX * 4 * (INDEX % 2)).all()


def test_local_memory_outlasts_a_stop() -> None:
    found = run('''
        .local .align 8 .b8 l[16]; mov.u64 %rd1, l;
        cvt.u64.u32 %rd2, %r0; st.local.u64 [%rd1+8], %rd2; bar.sync 0;
        ld.local.u64 %rd3, [l+8]; st.global.u64 [%rd0], %rd3;''')
    assert (found == INDEX).all()


def test_function_with_a_barrier() -> None:
    found = run('''
        { .param .b32 a; st.param.b32 [a], %r0; .param .b32 r;
          call (r), rotate, (a); ld.param.b32 %r1, [r]; }
        { .param .b32 a; st.param.b32 [a], %r1; .param .b32 r;
          call (r), rotate, (a); ld.param.b32 %r1, [r]; }
        st.global.u32 [%rd0], %r1;''', before='''
        .func (.param .b32 r) rotate(.param .b32 a) {
          .shared .u32 s[64]; .reg .b32 %r<9>; .reg .pred %p;
          mov.u32 %r1, %tid.x; mov.u32 %r2, s;
          mad.lo.s32 %r3, %r1, 4, %r2; ld.param.u32 %r4, [a];
          bar.sync 0; st.shared.u32 [%r3], %r4; bar.sync 0;
          add.s32 %r5, %r1, 1; and.b32 %r5, %r5, 63;
          mad.lo.s32 %r3, %r5, 4, %r2; ld.shared.u32 %r6, [%r3];
          ld.param.u32 %r7, [a]; setp.eq.u32 %p, %r7, %r4;
          @%p bra GOOD; mov.u32 %r6, 999;
          GOOD: st.param.b32 [r], %r6; ret; }''')
    assert found.tolist() == ((INDEX + 2) % 64).tolist()


def test_function_without_a_barrier_called_between() -> None:
    found = run('''
        bar.sync 0; call (%r1), square, (%r0); bar.sync 0;
        st.global.u32 [%rd0], %r1;''', before='''
        .func (.reg .u32 r) square(.reg .u32 a) {
        mul.lo.u32 r, a, a; ret; }''')
    assert (found == INDEX * INDEX).all()


def test_block_of_three_dimensions() -> None:
    kernel = runner.Kernel(runner.entry('''
        bar.sync 0; mov.u32 %r1, %tid.z; mov.u32 %r2, %tid.y;
        mad.lo.s32 %r1, %r1, 4, %r2; mad.lo.s32 %r1, %r1, 3, %r0;
        mov.u32 %r3, %ctaid.y; mad.lo.s32 %r1, %r3, 60, %r1;
        ld.param.u64 %rd1, [p0]; mad.wide.u32 %rd1, %r1, 4, %rd1;
        add.s32 %r1, %r1, 1; st.global.u32 [%rd1], %r1;'''))
    out = numpy.zeros(120, 'u4')
    kernel((1, 2), (3, 4, 5), out)
    assert (out == numpy.arange(120) + 1).all()


def test_warp_barrier_and_sleep() -> None:
    found = run('''
        .shared .u32 s; st.shared.u32 [s], %r0; bar.warp.sync 0xffffffff;
        nanosleep.u32 100; ld.shared.u32 %r1, [s];
        st.global.u32 [%rd0], %r1;''', 32)
    assert (found == 31).all()


def test_trap_after_a_barrier() -> None:
    out = numpy.zeros(32, 'u8')
    kernel = runner.Kernel(runner.entry('''
        bar.sync 0; setp.eq.u32 %p1, %r0, 3; @%p1 trap;
        st.global.u32 [%rd0], 1;'''))
    assert kernel(1, 32, out) == 1
    assert out[3] == 0


def test_stops_name_their_line_and_constants() -> None:
    text = runner.entry('mov.u32 %r1, 31;\nshfl.sync.up.b32 %r2, %r0, 1, %r1,'
                        '-1;\nst.global.u32 [%rd0], %r2;')
    stop, = runner.Kernel(text).kernel.stops
    assert stop[5:] == (1, 31, -1, 14, text[:text.index('shfl')].count(
        '\n') + 1)
