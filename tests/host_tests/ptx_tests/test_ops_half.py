"""Half precision and bfloat16 against exact fractions."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy
import pytest

import harness
import oracle
import test_ops_floating as floating
import values

TINY = {'f16': 2.0 ** -14, 'bf16': 2.0 ** -126}
EXACT: dict[str, Callable[..., Fraction | None]] = {
    k: floating.EXACT[k] for k in ('add', 'sub', 'mul', 'fma')}


def pool(kind: str) -> Any:
    """Returns values of a format as an array of floats that holds them."""
    if kind == 'f16':
        return values.floats('f2')
    patterns = values.floats('f4').view('u4') & 0xffff0000
    found = patterns.view('f4')
    found[numpy.isnan(found)] = numpy.nan
    return found


def encode(kind: str, x: Any) -> Any:
    if kind == 'f16':
        return numpy.asarray(x, 'f2')
    return (numpy.asarray(x, 'f4').view('u4') >> 16).astype('u2')


def decode(kind: str, x: Any) -> Any:
    if kind == 'f16':
        return x.view('f2')
    return (x.astype('u4') << 16).view('f4')


def apply(name: str, kind: str, *given: Any) -> Any:
    """Applies a form to unpacked floats, and its packed sibling as well,
    which has to give the same."""
    encoded = [encode(kind, g[:len(g) // 2 * 2]) for g in given]
    found = harness.apply(f'{name}.{kind}', *encoded)
    packed = harness.apply(f'{name}.{kind}x2',
                           *(e.view('u4') for e in encoded))
    found = decode(kind, found)
    oracle.assert_same(decode(kind, packed.view('u2')), found, *given)
    return found


def even(*given: Any) -> list[Any]:
    return [g[:len(g) // 2 * 2] for g in given]


def operands(kind: str, count: int) -> list[Any]:
    return even(*values.product(*[pool(kind)] * count,
                                edges=42 if count == 2 else 14))


def hard_sums(kind: str) -> list[Any]:
    """Returns a, b, c with a*b + c close to halfway between numbers."""
    precision = oracle.FORMATS[kind].precision
    rng = numpy.random.default_rng(6)
    n = 4000
    x, y = rng.integers(2 ** (precision - 1), 2 ** precision, (2, n))
    scale = rng.integers(-8, 3, n)
    z = rng.integers(1, 2 ** precision, n) * 2.0 ** rng.integers(-20, 3, n)
    if kind == 'f16':
        z, scale = z * 2.0 ** -4, scale - 10
    z *= rng.choice([-1, 1], n)
    return even(x * 2.0 ** scale, y * 2.0 ** -8, z)


def expected(name: str, kind: str, *given: Any) -> Any:
    special = floating.special(name, 'rn', *given)
    return oracle.rounded(EXACT[name], special, kind, 'rn', *given)


@pytest.mark.parametrize('kind', ['f16', 'bf16'])
@pytest.mark.parametrize('name', ['add', 'sub', 'mul'])
def test_arithmetic(name: str, kind: str) -> None:
    given = operands(kind, 2)
    for suffix in ('', '.rn'):
        found = apply(name + suffix, kind, *given)
        want = expected(name, kind, *given)
        oracle.assert_same(found, want.astype(found.dtype), *given)


@pytest.mark.parametrize('kind', ['f16', 'bf16'])
def test_fma(kind: str) -> None:
    for given in operands(kind, 3), hard_sums(kind):
        given = [decode(kind, encode(kind, g)) for g in given]
        found = apply('fma.rn', kind, *given)
        want = expected('fma', kind, *given).astype(found.dtype)
        oracle.assert_same(found, want, *given)
        rectified = apply('fma.rn.relu', kind, *given)
        keep = (want > 0) | numpy.isnan(want)
        oracle.assert_same(
            rectified, numpy.where(keep, want, found.dtype.type(0)), *given)


def test_fma_bfloat_rounds_once() -> None:
    """A tiny addend decides a halfway case that no double can hold."""
    x, y = numpy.float32(1 + 2 ** -7), numpy.float32(1 + 2 ** -1)
    tie = Fraction(float(x)) * Fraction(float(y))
    assert float(oracle.round_fraction(tie, 'bf16')) != float(tie)
    up = apply('fma.rn', 'bf16', *(numpy.full(2, v, 'f4') for v in
                                   (x, y, 2.0 ** -100)))
    down = apply('fma.rn', 'bf16', *(numpy.full(2, v, 'f4') for v in
                                     (x, y, -2.0 ** -100)))
    assert up[0] - down[0] == 2.0 ** -7


@pytest.mark.parametrize('name', ['add', 'mul', 'fma.rn'])
def test_half_modifiers(name: str) -> None:
    given = operands('f16', 3 if name == 'fma.rn' else 2)
    flushed = [oracle.flush(g, TINY['f16']) for g in given]
    want = oracle.flush(apply(name, 'f16', *flushed), TINY['f16'])
    oracle.assert_same(apply(f'{name}.ftz', 'f16', *given), want, *given)
    oracle.assert_same(
        apply(f'{name}.sat', 'f16', *given),
        oracle.saturate(apply(name, 'f16', *given)), *given)


@pytest.mark.parametrize('kind', ['f16', 'bf16'])
def test_signs(kind: str) -> None:
    x, = even(pool(kind))
    oracle.assert_same(apply('abs', kind, x), abs(x), x)
    oracle.assert_same(apply('neg', kind, x), -x, x)
    if kind == 'f16':
        flushed = oracle.flush(x, TINY[kind])
        oracle.assert_same(apply('abs.ftz', kind, x), abs(flushed), x)
        oracle.assert_same(apply('neg.ftz', kind, x), -flushed, x)


@pytest.mark.parametrize('kind', ['f16', 'bf16'])
@pytest.mark.parametrize('name', ['min', 'max'])
def test_min_max(name: str, kind: str) -> None:
    x, y = operands(kind, 2)
    for modifier in ('', '.NaN', '.xorsign.abs', '.NaN.xorsign.abs'):
        want = harness.apply(f'{name}{modifier}.f32',
                             x.astype('f4'), y.astype('f4'))
        found = apply(name + modifier, kind, x, y)
        oracle.assert_same(found.astype('f4'), want, x, y)


def test_min_flushed() -> None:
    x, y = operands('f16', 2)
    flushed = [oracle.flush(v, TINY['f16']) for v in (x, y)]
    oracle.assert_same(apply('min.ftz', 'f16', x, y),
                       apply('min', 'f16', *flushed), x, y)


@pytest.mark.parametrize('kind', ['f16', 'bf16'])
def test_tanh(kind: str) -> None:
    x, = even(pool(kind))
    eps = 2.0 ** -(oracle.FORMATS[kind].precision - 1)
    with numpy.errstate(all='ignore'):
        want = numpy.tanh(x.astype('f8'))
    floating.close(apply('tanh.approx', kind, x), want, x, eps,
                   TINY[kind] * eps)


@pytest.mark.parametrize('kind, name', [
    ('f16', 'ex2.approx'), ('bf16', 'ex2.approx.ftz')])
def test_ex2(kind: str, name: str) -> None:
    x, = even(pool(kind))
    eps = 2.0 ** -(oracle.FORMATS[kind].precision - 1)
    most = (2 - eps / 2) * 2.0 ** oracle.FORMATS[kind].emax
    with numpy.errstate(all='ignore'):
        want = numpy.exp2(x.astype('f8'))
    want = numpy.where(want > most, numpy.inf, want)
    if kind == 'bf16':
        want = oracle.flush(want, TINY[kind])
    least = TINY[kind] * eps if kind == 'f16' else 0.0
    floating.close(apply(name, kind, x), want, x, eps, least)
