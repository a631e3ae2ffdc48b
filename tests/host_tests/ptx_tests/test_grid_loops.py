"""Grid-stride loops, which are run as plain loops over the index."""
from __future__ import annotations

from typing import Any

import numpy
import pytest

from cupy_backends.host.ptx import polynomial
import runner

# out[i] = function(in[i]); both arrays are given by address and stride, as
# in kernels of CuPy: the compiler has replaced i * stride by sums.
LOOP = '''
.visible .entry k(.param .u64 x, .param .u64 xs, .param .u64 y,
    .param .u64 ys, .param .s64 n)
{{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %rd<40>;
.reg .f64 %fd<9>;
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [xs];
ld.param.u64 %rd3, [y]; ld.param.u64 %rd4, [ys]; ld.param.u64 %rd5, [n];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; cvt.u64.u32 %rd6, %r2;
mul.wide.u32 %rd7, %r1, %r2; mov.u32 %r3, %tid.x; cvt.u64.u32 %rd8, %r3;
add.s64 %rd9, %rd7, %rd8; setp.ge.s64 %p1, %rd9, %rd5;
@%p1 bra DONE;
cvta.to.global.u64 %rd10, %rd1; cvta.to.global.u64 %rd11, %rd3;
mov.u32 %r4, %nctaid.x; cvt.u64.u32 %rd12, %r4;
mul.lo.s64 %rd13, %rd6, %rd12;
mul.lo.s64 %rd14, %rd2, %rd9; shl.b64 %rd15, %rd14, 32;
mul.lo.s64 %rd16, %rd2, %rd13; shl.b64 %rd17, %rd16, 32;
mul.lo.s64 %rd18, %rd4, %rd9; shl.b64 %rd19, %rd18, 32;
mul.lo.s64 %rd20, %rd4, %rd13; shl.b64 %rd21, %rd20, 32;
LOOP:
shr.s64 %rd22, %rd15, 32; add.s64 %rd23, %rd10, %rd22;
shr.s64 %rd24, %rd19, 32; add.s64 %rd25, %rd11, %rd24;
{body}
add.s64 %rd15, %rd15, %rd17; add.s64 %rd19, %rd19, %rd21;
add.s64 %rd9, %rd9, %rd13; setp.lt.s64 %p2, %rd9, %rd5;
@%p2 bra LOOP;
DONE: ret;
}}
'''
TWICE = '''ld.global.f64 %fd1, [%rd23]; add.f64 %fd2, %fd1, %fd1;
st.global.f64 [%rd25], %fd2;'''
ADD_ONE = '''ld.global.f64 %fd1, [%rd25]; mov.f64 %fd3, 0d3FF0000000000000;
add.f64 %fd2, %fd1, %fd3; st.global.f64 [%rd25], %fd2;'''


def kernel(body: str) -> runner.Kernel:
    return runner.Kernel(LOOP.format(body=body))


def run(k: runner.Kernel, x: Any, y: Any, grid: Any, block: Any,
        n: int | None = None) -> None:
    k(grid, block, x, numpy.uint64(x.strides[0] % 2 ** 64), y,
      numpy.uint64(y.strides[0] % 2 ** 64),
      numpy.int64(len(y) if n is None else n))


# Pairs, as complex numbers: stored to x, and a part of it loaded again.
PAIRS = '''ld.global.v2.f32 {%f1, %f2}, [%rd23]; add.f32 %f3, %f1, %f1;
add.f32 %f4, %f2, %f2; st.global.v2.f32 [%rd23], {%f3, %f4};
st.global.f32 [%rd25], %f3; ld.global.f32 %f5, [%rd23+4];
st.global.f32 [%rd25+4], %f5;'''


def test_load_of_what_was_stored_before() -> None:
    text = LOOP.format(body=PAIRS).replace(
        '.reg .f64', '.reg .f32 %f<9>; .reg .f64')
    x = numpy.arange(200, dtype='f4').view('c8')
    y, want = numpy.zeros_like(x), 2 * x
    run(runner.Kernel(text), x, y, 2, 64)
    assert (x == want).all() and (y == want).all()


@pytest.fixture(scope='module')
def twice() -> runner.Kernel:
    return kernel(TWICE)


def test_it_is_recognised(twice: runner.Kernel) -> None:
    assert '%fast.i' in twice.kernel.ir


@pytest.mark.parametrize('n', [0, 1, 2, 31, 1000, 1025])
@pytest.mark.parametrize(('grid', 'block'), [
    (1, 1), (1, 32), (3, 32), (9, 128), (40, 128)])
def test_any_length_and_grid(twice: runner.Kernel, n: int, grid: int,
                             block: int) -> None:
    x, y = numpy.arange(2000.), numpy.zeros(2000)
    run(twice, x, y, grid, block, n)
    assert (y[:n] == 2 * x[:n]).all()
    assert (y[n:] == 0).all()


@pytest.mark.parametrize('x_step', [1, 2, -1, 0])
@pytest.mark.parametrize('y_step', [1, 3, -2])
def test_strides(twice: runner.Kernel, x_step: int, y_step: int) -> None:
    memory = numpy.arange(500.)
    x = numpy.lib.stride_tricks.as_strided(
        memory[100 if x_step < 0 else 0:], (100,), (8 * x_step,))
    target = numpy.zeros(300)
    y = target[::y_step][:100]
    run(twice, x, y, 2, 32)
    assert y.tolist() == (2 * x).tolist()
    assert target.sum() == y.sum()


def test_in_place(twice: runner.Kernel) -> None:
    x = numpy.arange(300.)
    run(twice, x, x, 3, 64)
    assert (x == 2 * numpy.arange(300.)).all()


def test_negative_length(twice: runner.Kernel) -> None:
    y = numpy.zeros(10)
    run(twice, y, y, 1, 32, -5)
    assert not y.any()


@pytest.mark.parametrize(('grid', 'block'), [
    ((2, 3), 16), ((1, 1, 2), 16), (2, (8, 2)), (2, (8, 2, 3)),
    ((2, 2, 2), (4, 2, 2))])
def test_every_thread_runs(grid: Any, block: Any) -> None:
    """Threads that differ in y or z do the same work once more."""
    y = numpy.zeros(100)
    run(kernel(ADD_ONE), y, y, grid, block)
    times = numpy.prod(runner.size3(grid)[1:] + runner.size3(block)[1:])
    assert y.tolist() == [times] * 100


def test_part_of_the_blocks(twice: runner.Kernel) -> None:
    x, y = numpy.arange(1000.), numpy.zeros(1000)
    run(kernel(ADD_ONE), x, y, 5, 32, 100)
    k = twice
    params = k._params((x, numpy.uint64(8), y, numpy.uint64(8),
                        numpy.int64(1000)))
    launch = runner.Launch((5, 1, 1), (32, 1, 1), 0, 0, 0,
                           params.ctypes.data)
    y[:] = 0
    function = runner.STRAIGHT(k.code.addresses[0])
    function(launch, runner.Block(), 1, 3)
    expected = numpy.zeros(1000)
    for lap in range(0, 1000, 160):
        expected[lap + 32:lap + 96] = 2 * x[lap + 32:lap + 96]
    assert (y == expected).all()


def test_branch_in_the_body() -> None:
    k = kernel('''ld.global.f64 %fd1, [%rd23]; mov.f64 %fd2, 0d0;
        cvt.u32.u64 %r5, %rd9; and.b32 %r6, %r5, 1; setp.eq.s32 %p3, %r6, 0;
        @%p3 bra EVEN; add.f64 %fd2, %fd1, %fd1; bra BOTH;
        EVEN: sub.f64 %fd2, %fd2, %fd1;
        BOTH: st.global.f64 [%rd25], %fd2;'''.replace(
            '0d0;', '0d0000000000000000;'))
    x, y = numpy.arange(300.) + 1, numpy.zeros(300)
    run(k, x, y, 2, 64)
    odd = numpy.arange(300) % 2
    assert (y == numpy.where(odd, 2 * x, -x)).all()


def test_inner_loop() -> None:
    k = kernel('''mov.u32 %r5, 0; ld.global.f64 %fd1, [%rd23];
        INNER: add.f64 %fd1, %fd1, %fd1; add.s32 %r5, %r5, 1;
        setp.lt.s32 %p3, %r5, 3; @%p3 bra INNER;
        st.global.f64 [%rd25], %fd1;''')
    x, y = numpy.arange(100.), numpy.zeros(100)
    run(k, x, y, 2, 16)
    assert (y == 8 * x).all()
    assert '%any.i' in k.kernel.ir and '%fast.i' not in k.kernel.ir


def test_body_that_reads_thread_indices() -> None:
    k = kernel('''mov.u32 %r5, %tid.x; mov.u32 %r6, %ctaid.x;
        mad.lo.s32 %r7, %r6, 1000, %r5; cvt.rn.f64.s32 %fd1, %r7;
        st.global.f64 [%rd25], %fd1;''')
    y = numpy.zeros(100)
    run(k, y, y, 2, 16)
    i = numpy.arange(100)
    assert (y == i // 16 % 2 * 1000 + i % 16).all()


def test_trap_in_the_body() -> None:
    k = kernel('setp.eq.s64 %p3, %rd9, 40; @%p3 trap;' + TWICE)
    x, y = numpy.arange(100.), numpy.zeros(100)
    runner.faults.clear()
    run(k, x, y, 2, 16)
    assert runner.faults[0][:2] == ('hd_rt_trap', 8)
    assert y[40] == 0


@pytest.mark.parametrize('change', [
    # A loop that is left early must not go on at its next lap.
    ('st.global', 'setp.eq.s64 %p3, %rd9, 7; @%p3 bra DONE; st.global'),
    # A sum over iterations.
    ('add.f64 %fd2, %fd1, %fd1', 'add.f64 %fd2, %fd2, %fd1'),
    # Another step than the grid's size.
    ('mul.lo.s64 %rd13, %rd6, %rd12', 'mul.lo.s64 %rd13, %rd6, %rd6'),
    # Unsigned comparison.
    ('setp.lt.s64', 'setp.lt.u64'),
    # Another bound.
    ('setp.lt.s64 %p2, %rd9, %rd5', 'setp.lt.s64 %p2, %rd9, %rd4'),
    # Increments that do not belong to the index.
    ('%rd15, %rd15, %rd17', '%rd15, %rd15, %rd21'),
    # Something happens before the loop.
    ('mov.u32 %r4,', 'st.global.u64 [%rd11], %rd8; mov.u32 %r4,'),
    # A start that is not the thread's index.
    ('add.s64 %rd9, %rd7, %rd8', 'sub.s64 %rd9, %rd7, %rd8'),
])
def test_other_loops_are_left_alone(change: tuple[str, str]) -> None:
    text = LOOP.format(body=TWICE)
    assert change[0] in text
    text = text.replace(*change)
    assert '%any.i' not in runner.Kernel(text).kernel.ir


def test_early_exit_of_the_loop() -> None:
    k = kernel('setp.gt.s64 %p3, %rd9, 40; @%p3 bra DONE;' + TWICE)
    x, y = numpy.arange(100.) + 1, numpy.zeros(100)
    run(k, x, y, 1, 16)
    assert (y[:41] == 2 * x[:41]).all() and not y[41:].any()


def test_polynomials() -> None:
    x, y = polynomial.symbol('x'), polynomial.symbol('y')
    two = polynomial.constant(2)
    assert (x + y) * (x - y) == x * x - y * y
    assert (two * x * y + y).coefficient('x') == two * y
    assert (x * x).coefficient('x') is None
    assert polynomial.constant(1 << 63) * two == polynomial.constant(0)
    assert (two * x).halved(1) == x
    assert (two * x + y).halved(1) is None


@pytest.mark.parametrize('opcode', ['div.u32', 'rem.u32'])
@pytest.mark.parametrize('divisor', [
    0, 1, 2, 3, 7, 10, 641, 65535, 65537, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])
def test_division_by_what_all_threads_share(opcode: str,
                                            divisor: int) -> None:
    """One multiplication replaces it, see :mod:`reciprocal`."""
    k = kernel(f'''ld.global.f64 %fd1, [%rd23]; cvt.rzi.u32.f64 %r5, %fd1;
        {opcode} %r6, %r5, %r8; cvt.rn.f64.u32 %fd2, %r6;
        st.global.f64 [%rd25], %fd2;''')
    assert 'i128' not in k.kernel.ir
    text = LOOP.format(body=f'''ld.global.f64 %fd1, [%rd23];
        cvt.rzi.u32.f64 %r5, %fd1; {opcode} %r6, %r5, %r8;
        cvt.rn.f64.u32 %fd2, %r6; st.global.f64 [%rd25], %fd2;''').replace(
            'mov.u32 %r4,', f'mov.u32 %r8, {divisor}; mov.u32 %r4,')
    k = runner.Kernel(text)
    assert 'i128' in k.kernel.ir
    rng = numpy.random.default_rng(4)
    x = rng.integers(0, 2 ** 32, 2000) >> rng.integers(0, 32, 2000)
    x[:6] = [0, 1, divisor, max(divisor, 1) - 1, 2 ** 32 - 1, 2 ** 31]
    y = numpy.zeros(2000)
    run(k, x.astype('f8'), y, 3, 64)
    operation = {'div.u32': numpy.floor_divide,
                 'rem.u32': numpy.remainder}[opcode]
    expected = (operation(x, divisor) if divisor
                else numpy.full(2000, 2 ** 32 - 1))
    assert y.tolist() == expected.tolist()


def test_result_of_a_call_is_not_taken_for_a_parameter() -> None:
    body = '''cvt.u32.u64 %r5, %rd9;
        { .param .b32 a; st.param.b32 [a], %r5; .param .b32 r;
          call (r), twice, (a); ld.param.b32 %r6, [r]; }
        cvt.rn.f64.s32 %fd2, %r6; st.global.f64 [%rd25], %fd2;'''
    k = runner.Kernel(LOOP.format(body=body) + '''
        .func (.param .b32 r) twice(.param .b32 a)
        { .reg .b32 %r<3>; ld.param.u32 %r1, [a]; add.s32 %r2, %r1, %r1;
          st.param.b32 [r], %r2; ret; }''')
    assert '%any.i' in k.kernel.ir
    y = numpy.zeros(100)
    run(k, y, y, 2, 16)
    assert (y == 2 * numpy.arange(100)).all()


def test_step_and_bound_computed_inside() -> None:
    text = LOOP.format(body=TWICE).replace(
        'mul.lo.s64 %rd13, %rd6, %rd12;\n', '').replace(
        'mul.lo.s64 %rd16, %rd2, %rd13;',
        'mul.lo.s64 %rd30, %rd2, %rd6; mul.lo.s64 %rd16, %rd30, %rd12;'
    ).replace(
        'mul.lo.s64 %rd20, %rd4, %rd13;',
        'mul.lo.s64 %rd31, %rd4, %rd6; mul.lo.s64 %rd20, %rd31, %rd12;'
    ).replace('LOOP:', 'LOOP: mul.wide.u32 %rd13, %r2, %r4; '
              'ld.param.u64 %rd32, [n];').replace(
        'setp.lt.s64 %p2, %rd9, %rd5', 'setp.lt.s64 %p2, %rd9, %rd32')
    k = runner.Kernel(text)
    assert '%fast.i' in k.kernel.ir
    x, y = numpy.arange(100.), numpy.zeros(100)
    run(k, x, y, 2, 16)
    assert (y == 2 * x).all()


# A slow path with a loop, for values of 100 and more.
RARE = '''ld.global.f64 %fd1, [%rd23]; mov.f64 %fd3, 0d4059000000000000;
    setp.ltu.f64 %p3, %fd1, %fd3; @%p3 bra USUAL;
    SLOW: add.f64 %fd1, %fd1, %fd1; setp.lt.f64 %p4, %fd1,
    0d40F86A0000000000; @%p4 bra SLOW; bra BOTH;
    USUAL: mul.f64 %fd1, %fd1, %fd1; BOTH: st.global.f64 [%rd25], %fd1;'''


@pytest.mark.parametrize('places', [
    [], [0], [1023], [1024], [5, 2500, 4999], list(range(5000))])
@pytest.mark.parametrize('in_place', [False, True])
def test_rare_slow_path(places: list[int], in_place: bool) -> None:
    k = kernel(RARE)
    assert '%check.i' in k.kernel.ir
    x = numpy.arange(5000) % 100 * 0.5
    x[places] = 150.
    y = x if in_place else numpy.zeros(5000)
    expected = x * x
    expected[places] = 153600.
    run(k, x, y, 20, 64)
    assert y.tolist() == expected.tolist()


def test_slow_path_that_is_always_taken() -> None:
    k = kernel(RARE.replace('@%p3 bra USUAL;', 'bra SLOW;'))
    assert '%fast.i' not in k.kernel.ir


@pytest.mark.parametrize('negated', ['', '!'])
@pytest.mark.parametrize('stride', [8, 16])
def test_two_loops_of_which_all_threads_take_the_same(
        negated: str, stride: int) -> None:
    text = LOOP.format(body=TWICE)
    start, end = text.index('LOOP:'), text.index('DONE: ret')
    other = text[start:end].replace('LOOP', 'OTHER').replace(
        'add.f64 %fd2, %fd1, %fd1', 'mul.f64 %fd2, %fd1, %fd1')
    text = (text[:start] + f'setp.eq.s64 %p4, %rd4, 16; @{negated}%p4 '
            'bra OTHER;' + text[start:end] + 'bra DONE;' + other + text[end:])
    k = runner.Kernel(text)
    assert k.kernel.ir.count('%fast.i =') == 2
    x, memory = numpy.arange(100.), numpy.zeros(200)
    y = memory[::stride // 8][:100]
    run(k, x, y, 2, 16)
    square = (stride == 16) != (negated == '!')
    assert (y == (x * x if square else 2 * x)).all()
