"""Comparison and selection against Python's own comparisons."""
from __future__ import annotations

from collections.abc import Callable
import math
import operator
from typing import Any

import numpy
import pytest

import harness
import oracle
import test_ops_integer as integer
import values

from cupy_backends.host.ptx import dtypes

TINY = 2.0 ** -126
ORDER: dict[str, Callable[[Any, Any], bool]] = {
    'eq': operator.eq, 'ne': operator.ne, 'lt': operator.lt,
    'le': operator.le, 'gt': operator.gt, 'ge': operator.ge}
UNSIGNED = {'lo': 'lt', 'ls': 'le', 'hi': 'gt', 'hs': 'ge'}
FLOAT = [*ORDER, *(f'{n}u' for n in ORDER), 'num', 'nan']
BOOL = {'and': operator.and_, 'or': operator.or_, 'xor': operator.xor}


def compare(name: str, x: Any, y: Any) -> Any:
    """Compares arrays: plain names are false for NaN, those with a u true."""
    either = numpy.isnan(x) | numpy.isnan(y)
    if name in ('num', 'nan'):
        return either == (name == 'nan')
    plain = ORDER[name.removesuffix('u')](x, y)
    return plain | either if name.endswith('u') else plain & ~either


def operands(ptx: str) -> list[Any]:
    if ptx == 'bf16':
        x, y = values.product(*[values.floats('f4')] * 2, edges=42)
        return [v.view('u4') & 0xffff0000 for v in (x, y)]
    if dtypes.TYPES[ptx].is_float:
        dtype = str(harness.numpy_dtype(dtypes.TYPES[ptx]))
        return values.product(*[values.floats(dtype)] * 2, edges=42)
    return integer.operands(ptx, ptx)


@pytest.mark.parametrize('ptx', dtypes.INT + dtypes.BITS)
def test_integers(ptx: str) -> None:
    x, y = operands(ptx)
    names = ['eq', 'ne'] if ptx[0] == 'b' else list(ORDER)
    names += list(UNSIGNED) if ptx[0] == 'u' else []
    for name in names:
        want = ORDER[UNSIGNED.get(name, name)](x, y)
        p, q = harness.apply(f'setp.{name}.{ptx}', x, y)
        assert (p == want).all()
        assert (q == ~want).all()


@pytest.mark.parametrize('name', FLOAT)
@pytest.mark.parametrize('ptx', ['f16', 'f32', 'f64'])
def test_floats(ptx: str, name: str) -> None:
    x, y = operands(ptx)
    want = compare(name, x, y)
    p, q = harness.apply(f'setp.{name}.{ptx}', x, y)
    assert (p == want).all()
    assert (q == ~want).all()
    if ptx == 'f32':
        p, _ = harness.apply(f'setp.{name}.ftz.f32', x, y)
        flushed = oracle.flush(x, TINY), oracle.flush(y, TINY)
        assert (p == compare(name, *flushed)).all()


def test_half_flushed() -> None:
    x, y = operands('f16')
    p, _ = harness.apply('setp.lt.ftz.f16', x, y)
    tiny = 2.0 ** -14
    assert (p == (oracle.flush(x, tiny) < oracle.flush(y, tiny))).all()


@pytest.mark.parametrize('name', FLOAT)
def test_bfloat(name: str) -> None:
    x, y = operands('bf16')
    p, _ = harness.apply(f'setp.{name}.bf16', *(
        (v >> 16).astype('u2') for v in (x, y)))
    assert (p == compare(name, x.view('f4'), y.view('f4'))).all()


@pytest.mark.parametrize('word', BOOL)
def test_third_predicate(word: str) -> None:
    x, y = operands('s32')
    c = numpy.arange(len(x)) % 3 == 0
    p, q = harness.apply(f'setp.lt.{word}.s32', x, y, c)
    assert (p == BOOL[word](x < y, c)).all()
    assert (q == BOOL[word](~(x < y), c)).all()
    x, y = operands('f32')
    c = numpy.arange(len(x)) % 3 == 0
    p, _ = harness.apply(f'setp.geu.{word}.ftz.f32', x, y, c)
    flushed = oracle.flush(x, TINY), oracle.flush(y, TINY)
    assert (p == BOOL[word](compare('geu', *flushed), c)).all()


@pytest.mark.parametrize('ptx', ['f16x2', 'bf16x2'])
def test_packed(ptx: str) -> None:
    kind = ptx.removesuffix('x2')
    x, y = (v[:len(v) // 2 * 2] for v in operands(kind))
    if kind == 'bf16':
        x, y = ((v >> 16).astype('u2') for v in (x, y))
    want, _ = harness.apply(f'setp.leu.{kind}', x, y)
    given = [v.view('u4') for v in (x, y)]
    low, high = harness.apply(f'setp.leu.{ptx}', *given)
    assert (low == want[0::2]).all()
    assert (high == want[1::2]).all()
    c = numpy.arange(len(low)) % 3 == 0
    low, high = harness.apply(f'setp.leu.xor.{ptx}', *given, c)
    assert (low == want[0::2] ^ c).all()
    assert (high == want[1::2] ^ c).all()
    found = harness.apply(f'set.leu.{ptx}.{ptx}', *given).view('u2')
    one = 0x3c00 if kind == 'f16' else 0x3f80
    assert (found == want * one).all()


TRUE = {'u32': 2**32 - 1, 's32': -1, 'u16': 2**16 - 1, 's16': -1,
        'f32': 1.0, 'f16': 1.0, 'bf16': 0x3f80}


@pytest.mark.parametrize('dst, src', [
    ('u32', 's32'), ('s32', 'u64'), ('f32', 's16'), ('f32', 'f32'),
    ('u32', 'f64'), ('f16', 'f32'), ('f16', 'f16'), ('s16', 'f16'),
    ('bf16', 'bf16'), ('u16', 'bf16')])
def test_set(dst: str, src: str) -> None:
    x, y = operands(src)
    if src == 'bf16':
        x, y = ((v >> 16).astype('u2') for v in (x, y))
    p, _ = harness.apply(f'setp.le.{src}', x, y)
    found = harness.apply(f'set.le.{dst}.{src}', x, y)
    assert (found == numpy.where(p, TRUE[dst], 0)).all()
    c = numpy.arange(len(x)) % 2 == 0
    found = harness.apply(f'set.le.and.{dst}.{src}', x, y, c)
    assert (found == numpy.where(p & c, TRUE[dst], 0)).all()


@pytest.mark.parametrize('ptx', dtypes.INT + dtypes.BITS + dtypes.FLOAT)
def test_select(ptx: str) -> None:
    x, y = operands(ptx)
    c = numpy.arange(len(x)) % 3 == 0
    oracle.assert_same(harness.apply(f'selp.{ptx}', x, y, c),
                       numpy.where(c, x, y), x, y)
    z = numpy.resize(values.integers('i4'), len(x))
    oracle.assert_same(harness.apply(f'slct.{ptx}.s32', x, y, z),
                       numpy.where(z >= 0, x, y), x, y, z)
    z = numpy.resize(values.floats('f4'), len(x))
    oracle.assert_same(harness.apply(f'slct.{ptx}.f32', x, y, z),
                       numpy.where(z >= 0, x, y), x, y, z)
    z = oracle.flush(z, TINY)
    oracle.assert_same(harness.apply(f'slct.ftz.{ptx}.f32', x, y, z),
                       numpy.where(z >= 0, x, y), x, y, z)


def test_nan_is_the_third_outcome() -> None:
    """`ne` is ordered, unlike Python's operator; `neu` is not."""
    x = numpy.array([math.nan, 1.0])
    assert harness.apply('setp.ne.f64', x, x)[0].tolist() == [False, False]
    assert harness.apply('setp.neu.f64', x, x)[0].tolist() == [True, False]
