"""Loops that are run for all lanes of a warp at a time."""
from __future__ import annotations

from typing import Any

import numpy
import pytest

import runner

# Each thread sums x[i], x[i + step], ... with i its index: all in bytes.
# The address is kept in the upper half of a register, as in CuPy's
# reductions.
SUM = '''
.visible .entry k(.param .u64 out, .param .u64 x, .param .u64 stride,
    .param .s64 n)
{{
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<40>; .reg .f64 %fd<9>;
.reg .f32 %f<9>; .reg .b16 %h<9>;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [x];
ld.param.u64 %rd3, [stride]; ld.param.u64 %rd4, [n];
cvta.to.global.u64 %rd5, %rd2;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; cvt.u64.u32 %rd6, %r1;
mul.lo.s64 %rd7, %rd3, %rd6; shl.b64 %rd8, %rd7, 32;
cvt.u64.u32 %rd9, %r2; mul.lo.s64 %rd10, %rd9, %rd3;
shl.b64 %rd11, %rd10, 32; mov.u64 %rd12, %rd6; mov.f64 %fd1, 0d00;
mov.u32 %r5, 0; {before}
setp.ge.s64 %p1, %rd12, %rd4; @%p1 bra DONE;
LOOP:
shr.s64 %rd13, %rd8, 32; add.s64 %rd14, %rd5, %rd13;
{body}
add.s64 %rd8, %rd8, %rd11; add.s64 %rd12, %rd12, %rd9;
setp.lt.s64 %p2, %rd12, %rd4; @%p2 bra LOOP;
DONE: mul.wide.u32 %rd20, %r1, 8; add.s64 %rd20, %rd20, %rd1;
st.global.f64 [%rd20], %fd1; st.global.u32 [%rd20+4096], %r5; ret;
}}
'''.replace('0d00;', '0d0000000000000000;')
ADD = 'ld.global.f64 %fd2, [%rd14]; add.f64 %fd1, %fd1, %fd2;'


def kernel(body: str = ADD, before: str = '',
           change: tuple[str, str] = ('', '')) -> runner.Kernel:
    text = SUM.format(body=body, before=before)
    assert change[0] in text
    return runner.Kernel(text.replace(*change) if change[0] else text)


def run(k: runner.Kernel, x: Any, threads: int, n: int | None = None,
        stride: int | None = None) -> tuple[Any, Any]:
    """Returns what each thread has in ``%fd1`` and ``%r5``."""
    out = numpy.zeros(1024)
    n = len(x) if n is None else n
    stride = x.strides[0] if stride is None else stride
    k(1, threads, out, x, numpy.uint64(stride % 2 ** 64), numpy.int64(n))
    return out[:threads], out[512:].view('u4')[:2 * threads:2]


def sums(x: Any, threads: int, n: int | None = None) -> list[float]:
    n = len(x) if n is None else n
    return [x[t:max(n, t):threads].sum() for t in range(threads)]


@pytest.fixture(scope='module')
def total() -> runner.Kernel:
    return kernel()


def test_it_is_recognised(total: runner.Kernel) -> None:
    assert '%fast.lane' in total.kernel.ir
    assert len(total.kernel.stops) == 1


@pytest.mark.parametrize('threads', [1, 31, 32, 33, 64, 200])
@pytest.mark.parametrize('n', [0, 1, 32, 33, 64, 65, 1000])
def test_lengths(total: runner.Kernel, threads: int, n: int) -> None:
    x = numpy.arange(1000.) ** 2
    found, _ = run(total, x, threads, n)
    assert found.tolist() == sums(x, threads, n)


@pytest.mark.parametrize('step', [1, 2, 0, -1, -3])
def test_strides(total: runner.Kernel, step: int) -> None:
    memory = numpy.arange(1000.)
    x = memory if step > 0 else memory[::-1][::-1][-1:]
    start = memory[999:] if step < 0 else memory
    x = numpy.lib.stride_tricks.as_strided(start, (300,), (8 * step,))
    found, _ = run(total, x, 64)
    assert found.tolist() == sums(x, 64)


def test_order_of_additions_is_that_of_the_thread(
        total: runner.Kernel) -> None:
    x = numpy.random.default_rng(1).random(5000) * 1e10 ** (
        numpy.arange(5000) % 7)
    found, _ = run(total, x, 32)
    expected = numpy.zeros(32)
    for row in range(0, 5000, 32):
        part = x[row:row + 32]
        expected[:len(part)] += part
    assert found.tolist() == expected.tolist()


def test_offsets_that_wrap_around() -> None:
    """32 bits of the offset count, as in the program."""
    k = kernel('add.s32 %r5, %r5, 1;' + ADD.replace(
        '[%rd14]', '[%rd15]'), before='mov.u64 %rd8, 0x7fffff0000000000;',
        change=('add.s64 %rd14, %rd5, %rd13;', '''
        add.s64 %rd14, %rd5, %rd13; and.b64 %rd16, %rd13, 0xfff8;
        add.s64 %rd15, %rd5, %rd16;'''))
    x = numpy.arange(2. ** 13)
    found, _ = run(k, x, 32, 1000, stride=16)
    offsets = (0x7fffff00 + 512 * numpy.arange(32)).astype('u4')
    index = (offsets.astype('i4').astype('i8') & 0xfff8) // 8
    assert found[0] == x[index].sum()


def test_index_is_a_result() -> None:
    k = kernel('''ld.global.f64 %fd2, [%rd14]; setp.gt.f64 %p3, %fd2, %fd1;
        selp.f64 %fd1, %fd2, %fd1, %p3; cvt.u32.u64 %r6, %rd12;
        selp.b32 %r5, %r6, %r5, %p3;''')
    x = numpy.random.default_rng(2).random(3000)
    greatest, index = run(k, x, 64)
    for thread in range(64):
        mine = x[thread::64]
        assert greatest[thread] == mine.max()
        assert index[thread] == thread + 64 * mine.argmax()


def test_branches_in_the_body() -> None:
    k = kernel('''ld.global.f64 %fd2, [%rd14]; setp.gt.f64 %p3, %fd2,
        0d3FE0000000000000; @%p3 bra BIG; add.s32 %r5, %r5, 1; bra BOTH;
        BIG: add.f64 %fd1, %fd1, %fd2; BOTH:''')
    x = numpy.random.default_rng(3).random(3000)
    found, small = run(k, x, 64)
    for thread in range(64):
        mine = x[thread::64]
        assert small[thread] == (mine <= 0.5).sum()
        assert found[thread] == pytest.approx(mine[mine > 0.5].sum())


def test_uniform_values_computed_inside() -> None:
    k = kernel(ADD + '''cvt.u32.u64 %r7, %rd9; add.s32 %r5, %r5, %r7;''')
    _, counts = run(k, numpy.arange(1000.), 32)
    assert counts.tolist() == [32 * len(range(t, 1000, 32))
                               for t in range(32)]


def test_decision_that_differs_from_lane_to_lane() -> None:
    k = kernel(ADD, before='''and.b32 %r8, %r1, 3; mul.wide.u32 %rd30, %r8,
        100; sub.s64 %rd31, %rd4, %rd30;''', change=(
            'setp.lt.s64 %p2, %rd12, %rd4', 'setp.lt.s64 %p2, %rd12, %rd31'))
    x = numpy.arange(2000.)
    found, _ = run(k, x, 64)
    for thread in range(64):
        end = 2000 - thread % 4 * 100
        assert found[thread] == x[thread:end:64].sum()


@pytest.mark.parametrize(('old', 'new'), [
    ('setp.lt.s64 %p2, %rd12, %rd4; @%p2',
     'setp.ge.s64 %p2, %rd12, %rd4; @!%p2')])
def test_negated_decision(old: str, new: str) -> None:
    x = numpy.arange(500.)
    found, _ = run(kernel(change=(old, new)), x, 32)
    assert found.tolist() == sums(x, 32)


def test_stores_in_the_loop() -> None:
    k = kernel('''ld.global.f64 %fd2, [%rd14]; add.f64 %fd2, %fd2, %fd2;
        st.global.f64 [%rd14], %fd2;''')
    x = numpy.arange(999.)
    run(k, x, 64)
    assert (x == 2 * numpy.arange(999.)).all()


def test_address_of_a_local_variable() -> None:
    # Each thread has its own, though the instruction reads nothing of it.
    k = kernel(ADD + 'st.f64 [%rd31], %fd1;',
               '.local .align 8 .b8 own[8]; mov.u64 %rd30, own; '
               'cvta.local.u64 %rd31, %rd30;',
               ('DONE: ', 'ld.local.f64 %fd1, [%rd30]; DONE: '))
    x = numpy.arange(640.) ** 2
    found, _ = run(k, x, 64)
    assert found.tolist() == sums(x, 64)


def test_between_barriers() -> None:
    k = kernel(ADD, before='bar.sync 0;', change=('DONE:', '''DONE:
        .shared .f64 s[512]; mov.u32 %r10, s; mad.lo.s32 %r11, %r1, 8, %r10;
        st.shared.f64 [%r11], %fd1; bar.sync 0; xor.b32 %r12, %r1, 1;
        mad.lo.s32 %r11, %r12, 8, %r10; ld.shared.f64 %fd3, [%r11];
        add.f64 %fd1, %fd1, %fd3;'''))
    x = numpy.arange(1000.)
    found, _ = run(k, x, 128)
    own = numpy.array(sums(x, 128))
    assert found.tolist() == (own + own[numpy.arange(128) ^ 1]).tolist()


def test_loop_around_the_loop() -> None:
    k = kernel(ADD, before='OUTER: mov.u64 %rd12, %rd6; shl.b64 %rd8, '
               '%rd7, 32;', change=('DONE:', '''DONE: add.s32 %r5, %r5, 1;
        setp.lt.u32 %p3, %r5, 3; @%p3 bra OUTER;'''))
    x = numpy.arange(300.)
    found, rounds = run(k, x, 64)
    assert found.tolist() == (3 * numpy.array(sums(x, 64))).tolist()
    assert (rounds == 3).all()


def test_32_bit_index() -> None:
    text = '''
        ld.param.u64 %rd1, [p1]; ld.param.u32 %r5, [p2];
        mov.u32 %r2, %ntid.x; mov.u32 %r1, %r0; mov.u64 %rd9, 0;
        setp.ge.s32 %p1, %r1, %r5; @%p1 bra DONE;
        LOOP: mul.wide.s32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2;
        ld.global.u64 %rd4, [%rd3]; add.s64 %rd9, %rd9, %rd4;
        add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %r5; @%p2 bra LOOP;
        DONE: st.global.u64 [%rd0], %rd9;'''
    x = numpy.arange(1000, dtype='u8')
    found = runner.threads(text, 96, x, numpy.int32(1000),
                           params='.u64 p1, .s32 p2')
    assert found.tolist() == sums(x, 96)


def test_loop_over_a_piece_of_each_thread_is_left_alone() -> None:
    k = kernel(change=('add.s64 %rd8, %rd8, %rd11; add.s64 %rd12, %rd12, '
                       '%rd9;', 'add.s64 %rd8, %rd8, 0x800000000;'
                       'add.s64 %rd12, %rd12, 1;'))
    assert not k.kernel.stops
