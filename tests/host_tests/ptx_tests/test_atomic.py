"""Atomic operations; one thread after the other, against NumPy."""
from __future__ import annotations

import concurrent.futures
import functools
from typing import Any

import numpy
import pytest

from cupy_backends.host.ptx import errors
import runner


def apply(opcode: str, start: Any, operands: Any) -> tuple[Any, Any]:
    """Runs ``atom`` for each operand, and returns old values and the last.

    Args:
        opcode (str): For example ``'atom.global.add.u32'``.
        start: Scalar in memory at the beginning.
        operands: Array of the same dtype, one element per thread.
    """
    cell = numpy.array([start, 0])[:1].astype(operands.dtype)
    old = numpy.zeros_like(operands)
    size, bits = operands.itemsize, f'b{8 * operands.itemsize}'
    reg = {2: '%h', 4: '%r', 8: '%rd'}[size]
    kernel = runner.Kernel(runner.entry(f'''
        ld.param.u64 %rd1, [p0]; mad.wide.u32 %rd1, %r0, {size}, %rd1;
        ld.param.u64 %rd2, [p1]; mad.wide.u32 %rd2, %r0, {size}, %rd2;
        ld.param.u64 %rd3, [p2];
        ld.global.{bits} {reg}11, [%rd1];
        {opcode} {reg}12, [%rd3], {reg}11;
        st.global.{bits} [%rd2], {reg}12;''', '.u64 p0, .u64 p1, .u64 p2'))
    kernel(1, len(operands), operands, old, cell)
    return old, cell[0]


UFUNCS = {'add': numpy.add, 'min': numpy.minimum, 'max': numpy.maximum,
          'and': numpy.bitwise_and, 'or': numpy.bitwise_or,
          'xor': numpy.bitwise_xor, 'exch': lambda a, b: b,
          'inc': lambda a, b: numpy.where(a >= b, 0, a + 1),
          'dec': lambda a, b: b if a == 0 or a > b else int(a) - 1}
CASES = [(op, ptx) for ops, types in [
    (('add', 'min', 'max'), ('u32', 's32', 'u64', 's64')),
    (('and', 'or', 'xor', 'exch'), ('b32', 'b64')), (('inc', 'dec'), ('u32',)),
    (('add',), ('f32', 'f64'))] for op in ops for ptx in types]


def operands_of(ptx: str, count: int = 40) -> Any:
    kind = {'b': 'u', 's': 'i', 'u': 'u', 'f': 'f'}[ptx[0]]
    rng = numpy.random.default_rng(3)
    values = rng.integers(-20, 20, count)
    return values.astype(f'{kind}{int(ptx[1:]) // 8}')


@pytest.mark.parametrize(('op', 'ptx'), CASES)
def test_operation(op: str, ptx: str) -> None:
    operands = operands_of(ptx)
    start = operands.dtype.type(7)
    old, last = apply(f'atom.global.{op}.{ptx}', start, operands)
    expected = [start]
    for operand in operands:
        result = UFUNCS[op](expected[-1], operand)
        expected.append(numpy.asarray(result).astype(operands.dtype)[()])
    assert old.tolist() == [e.item() for e in expected[:-1]]
    assert last == expected[-1]


@pytest.mark.parametrize('opcode', [
    'atom.add.u32', 'atom.global.gpu.add.u32', 'atom.add.release.gpu.u32',
    'atom.acq_rel.sys.global.add.u32', 'atom.relaxed.cta.global.add.u32'])
def test_scopes_and_semantics(opcode: str) -> None:
    operands = operands_of('u32')
    _, last = apply(opcode, 0, operands)
    assert last == operands.sum(dtype='u4')


@pytest.mark.parametrize('ptx', ['b32', 'b64'])
def test_compare_and_swap(ptx: str) -> None:
    reg = {'b32': '%r', 'b64': '%rd'}[ptx]
    found = runner.threads(f'''
        ld.param.u64 %rd1, [p1];
        mov.{ptx} {reg}11, 5; mov.{ptx} {reg}12, 9;
        atom.global.cas.{ptx} {reg}13, [%rd1], {reg}11, {reg}12;
        st.global.{ptx} [%rd0], {reg}13;''', 3,
        cell := numpy.array([5], f'u{int(ptx[1:]) // 8}'),
        params='.u64 p1')
    assert found.tolist() == [5, 9, 9]
    assert cell[0] == 9


def test_compare_and_swap_of_16_bits() -> None:
    cell = numpy.array([1, 2, 3, 4], 'u2')
    runner.threads('''
        ld.param.u64 %rd1, [p1]; mov.b16 %h1, 2; mov.b16 %h2, 300;
        atom.global.cas.b16 %h3, [%rd1+2], %h1, %h2;''', 2, cell,
        params='.u64 p1')
    assert cell.tolist() == [1, 300, 3, 4]


def test_reduction_without_result() -> None:
    cell = numpy.zeros(1, 'f8')
    runner.threads('''
        ld.param.u64 %rd1, [p1]; red.global.add.f64 [%rd1],
        0d3FE0000000000000;''', 10, cell, params='.u64 p1')
    assert cell[0] == 5


def test_sink_as_destination() -> None:
    cell = numpy.zeros(1, 'u4')
    runner.threads('''
        ld.param.u64 %rd1, [p1]; atom.global.max.u32 _, [%rd1], %r0;''',
        10, cell, params='.u64 p1')
    assert cell[0] == 9


def test_half_precision_addition() -> None:
    operands = (numpy.arange(20) / 8).astype('f2')
    old, last = apply('atom.global.add.noftz.f16', 1, operands)
    assert last == 1 + operands.sum()
    assert (old[1:] == 1 + numpy.cumsum(operands)[:-1]).all()


def test_packed_half_precision_addition() -> None:
    pairs = (numpy.arange(40) / 8).astype('f2').reshape(20, 2)
    old, last = apply('atom.global.add.noftz.f16x2', 0,
                      pairs.view('u4').ravel())
    total = numpy.array([last], 'u4').view('f2')
    assert total.tolist() == pairs.sum(axis=0).tolist()


def test_shared_memory() -> None:
    found = runner.threads('''
        .shared .u32 s; setp.ne.u32 %p1, %r0, 0; @%p1 bra GO;
        st.shared.u32 [s], 0;
        GO: mov.u32 %r1, s; atom.shared.add.u32 %r2, [%r1], 2;
        st.global.u32 [%rd0], %r2;''', 5)
    assert found.tolist() == [0, 2, 4, 6, 8]


def test_guarded_operation() -> None:
    cell = numpy.zeros(1, 'u4')
    runner.threads('''
        ld.param.u64 %rd1, [p1]; setp.lt.u32 %p1, %r0, 3;
        @!%p1 red.global.add.u32 [%rd1], 1;''', 10, cell, params='.u64 p1')
    assert cell[0] == 7


def test_atomic_between_processor_threads() -> None:
    cell = numpy.zeros(1, 'f4')
    kernel = runner.Kernel(runner.entry(
        'red.global.add.f32 [%rd1], 0f3F800000;'.join(
            ['ld.param.u64 %rd1, [p0];', ''])))
    run = functools.partial(kernel, 1000, 100, cell)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(run) for _ in range(4)]:
            done.result()
    assert cell[0] == 400000


@pytest.mark.parametrize('opcode', [
    'atom.global.mul.u32', 'atom.global.min.f32', 'atom.global.and.f32'])
def test_what_ptx_does_not_have(opcode: str) -> None:
    with pytest.raises(errors.UnsupportedInstruction, match=opcode):
        runner.Kernel(runner.entry(f'{opcode} %r1, [%rd0], %r0;'))
