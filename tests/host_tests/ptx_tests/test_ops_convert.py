"""Conversions against Python integers and exact fractions."""
from __future__ import annotations

from fractions import Fraction
import math
from typing import Any

import numpy
import pytest

import harness
import oracle
import test_ops_integer as integer
import values

from cupy_backends.host.ptx import dtypes

INT = ['u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64']
MODES = ['rn', 'rz', 'rm', 'rp']
FLOAT = {'f16': 'f2', 'f32': 'f4', 'f64': 'f8'}
TINY = 2.0 ** -126


def integers(ptx: str) -> Any:
    return values.integers(str(harness.numpy_dtype(dtypes.TYPES[ptx])), 200)


def bfloat_floats() -> Any:
    """Returns every bf16 number, NaN once, as single precision."""
    patterns = numpy.arange(2 ** 16, dtype='u4') << 16
    found = patterns.view('f4')
    return found[~numpy.isnan(found) | (patterns == 0x7fc00000)]


def as_float(ptx: str, x: Any) -> Any:
    """Returns f16, bf16, ... values as a NumPy floating-point array."""
    if ptx == 'bf16':
        return (x.astype('u4') << 16).view('f4')
    return x


def bfloat_bits(x: Any) -> Any:
    return (numpy.asarray(x, 'f4').view('u4') >> 16).astype('u2')


@pytest.mark.parametrize('dst', INT)
@pytest.mark.parametrize('src', INT)
def test_int_to_int(src: str, dst: str) -> None:
    x = integers(src)
    integer.check(f'cvt.{dst}.{src}', lambda x: x, x)
    integer.check(f'cvt.sat.{dst}.{src}', lambda x: integer.clamp(dst, x), x)


ROUND = {'rni': round, 'rzi': math.trunc, 'rmi': math.floor,
         'rpi': math.ceil}


def to_int(name: str, src: str, dst: str, x: float) -> int:
    if math.isnan(x):
        wide = '64' in src + dst
        return 1 << dtypes.TYPES[dst].bits - 1 if wide else 0
    if math.isinf(x):
        return integer.limits(dst)[x > 0]
    return integer.clamp(dst, ROUND[name](Fraction(x)))


def near_integers(ptx: str) -> Any:
    """Returns floats around the limits of the integer types, and halves."""
    dtype = FLOAT[ptx]
    powers = 2.0 ** numpy.array([7, 8, 15, 16, 31, 32, 63, 64])
    limits = numpy.concatenate([powers - 1, powers - 0.5, powers,
                                powers + 0.5, powers + 1])
    halves = numpy.arange(-20, 20) / 4
    with numpy.errstate(all='ignore'):
        found = numpy.concatenate([limits, -limits, halves]).astype(dtype)
        below, above = (numpy.nextafter(found, found.dtype.type(v))
                        for v in (-numpy.inf, numpy.inf))
    return numpy.concatenate([values.floats(dtype), found, below, above])


@pytest.mark.parametrize('dst', INT)
@pytest.mark.parametrize('src', FLOAT)
def test_float_to_int(src: str, dst: str) -> None:
    x = near_integers(src)
    for name in ROUND:
        integer.check(f'cvt.{name}.{dst}.{src}', lambda x, name=name:
                      to_int(name, src, dst, x), x)


@pytest.mark.parametrize('name', ROUND)
def test_float_to_int_flushed(name: str) -> None:
    x = near_integers('f32')
    for dst in ('s32', 's64'):
        found = harness.apply(f'cvt.{name}.ftz.{dst}.f32', x)
        want = harness.apply(f'cvt.{name}.{dst}.f32', oracle.flush(x, TINY))
        oracle.assert_same(found, want, x)


def test_bfloat_to_int() -> None:
    x = bfloat_floats()
    for name, dst in [('rni', 's32'), ('rmi', 'u16'), ('rzi', 's64')]:
        found = harness.apply(f'cvt.{name}.{dst}.bf16', bfloat_bits(x))
        want = harness.apply(f'cvt.{name}.{dst}.f32', x)
        oracle.assert_same(found, want, x)


def halfway_integers(src: str, precision: int) -> Any:
    """Adds integers on, above and below halfway cases of a format."""
    x = integers(src)
    info = numpy.iinfo(x.dtype)
    rng = numpy.random.default_rng(4)
    found = []
    for _ in range(300):
        lead = int(rng.integers(2 ** (precision - 1), 2 ** precision))
        value = (2 * lead + 1) << int(rng.integers(0, 63))
        found += [s * (value + d) for s in (1, -1) for d in (-1, 0, 1)]
    fits = [v for v in found if info.min <= v <= info.max]
    return numpy.concatenate([x, numpy.array(fits, x.dtype)])


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('dst', ['f16', 'bf16', 'f32', 'f64'])
@pytest.mark.parametrize('src', INT)
def test_int_to_float(src: str, dst: str, mode: str) -> None:
    x = halfway_integers(src, oracle.FORMATS[dst].precision)
    found = as_float(dst, harness.apply(f'cvt.{mode}.{dst}.{src}', x))
    want = numpy.array([oracle.round_fraction(Fraction(v), dst, mode)
                        for v in x.tolist()])
    oracle.assert_same(found, want.astype(found.dtype), x)


def test_int_to_float_saturates() -> None:
    x = integers('s32')
    found = harness.apply('cvt.rn.sat.f32.s32', x)
    assert found.tolist() == numpy.clip(x, 0, 1).tolist()


def narrowing(src: str, dst: str) -> Any:
    """Returns values of every kind, halfway cases of ``dst`` with their
    neighbours among them, normal and subnormal."""
    f = oracle.FORMATS[dst]
    rng = numpy.random.default_rng(5)
    exponent = rng.integers(f.emin - f.precision - 2, f.emax + 1, 1000)
    bits = numpy.minimum(f.precision, exponent - f.emin + f.precision)
    lead = rng.random(1000) * 2.0 ** numpy.maximum(bits, 0)
    halfway = (numpy.floor(lead) + 0.5) * 2.0 ** (
        exponent - numpy.maximum(bits, 0) + 1.0)
    plain = numpy.concatenate([
        values.floats('f4').astype('f8'),
        values.floats('f2').astype('f8'), halfway, -halfway])
    with numpy.errstate(all='ignore'):
        found = plain.astype(FLOAT[src])
        below, above = (numpy.nextafter(found, found.dtype.type(v))
                        for v in (-numpy.inf, numpy.inf))
    return numpy.concatenate([values.floats(FLOAT[src]), found, below, above])


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('dst, src', [
    ('f32', 'f64'), ('f16', 'f64'), ('f16', 'f32'), ('bf16', 'f32'),
    ('bf16', 'f64')])
def test_narrow(dst: str, src: str, mode: str) -> None:
    x = narrowing(src, dst)
    found = as_float(dst, harness.apply(f'cvt.{mode}.{dst}.{src}', x))
    want = oracle.rounded(lambda v: v, x, dst, mode, x)
    oracle.assert_same(found, want.astype(found.dtype), x)


@pytest.mark.parametrize('dst', ['f16', 'bf16'])
def test_narrow_modifiers(dst: str) -> None:
    x = narrowing('f32', dst)

    def narrow(x: Any) -> Any:
        return as_float(dst, harness.apply(f'cvt.rn.{dst}.f32', x))

    for name, limited in [
            ('.ftz', oracle.flush(x, TINY)), ('.sat', oracle.saturate(x)),
            ('.relu', numpy.where(x > 0, x, numpy.where(
                numpy.isnan(x), x, numpy.float32(0))))]:
        found = harness.apply(f'cvt.rn{name}.{dst}.f32', x)
        oracle.assert_same(as_float(dst, found), narrow(limited), x)


def test_narrow_f32_modifiers() -> None:
    x = narrowing('f64', 'f32')
    plain = harness.apply('cvt.rn.f32.f64', x)
    oracle.assert_same(harness.apply('cvt.rn.ftz.f32.f64', x),
                       oracle.flush(plain, TINY), x)
    oracle.assert_same(harness.apply('cvt.rn.sat.f32.f64', x),
                       oracle.saturate(plain), x)


def test_widen() -> None:
    half = numpy.arange(2 ** 16, dtype='u2').view('f2')
    half = half[~numpy.isnan(half) | (half.view('u2') == 0x7e00)]
    for dst in ('f32', 'f64'):
        want = half.astype(FLOAT[dst])
        oracle.assert_same(harness.apply(f'cvt.{dst}.f16', half), want, half)
        oracle.assert_same(harness.apply(f'cvt.sat.{dst}.f16', half),
                           oracle.saturate(want), half)
        x = bfloat_floats()
        oracle.assert_same(harness.apply(f'cvt.{dst}.bf16', bfloat_bits(x)),
                           x.astype(FLOAT[dst]), x)
    x = values.floats('f4')
    oracle.assert_same(harness.apply('cvt.f64.f32', x), x.astype('f8'), x)
    oracle.assert_same(harness.apply('cvt.ftz.f64.f32', x),
                       oracle.flush(x, TINY).astype('f8'), x)


INTEGRAL = {'rni': numpy.rint, 'rzi': numpy.trunc, 'rmi': numpy.floor,
            'rpi': numpy.ceil}


@pytest.mark.parametrize('ptx', FLOAT)
def test_to_integral(ptx: str) -> None:
    x = near_integers(ptx)
    oracle.assert_same(harness.apply(f'cvt.sat.{ptx}.{ptx}', x),
                       oracle.saturate(x), x)
    for name, function in INTEGRAL.items():
        want = function(x)
        found = harness.apply(f'cvt.{name}.{ptx}.{ptx}', x)
        oracle.assert_same(found, want, x)
        if ptx == 'f32':
            oracle.assert_same(harness.apply(f'cvt.{name}.ftz.f32.f32', x),
                               function(oracle.flush(x, TINY)), x)


def test_bfloat_to_integral() -> None:
    x = bfloat_floats()
    for name, function in INTEGRAL.items():
        found = harness.apply(f'cvt.{name}.bf16.bf16', bfloat_bits(x))
        oracle.assert_same(as_float('bf16', found), function(x), x)


@pytest.mark.parametrize('kind', ['f16', 'bf16'])
@pytest.mark.parametrize('mode', ['rn', 'rz', 'rn.relu'])
def test_pair(kind: str, mode: str) -> None:
    x = narrowing('f32', kind)
    x = x[~numpy.isnan(x)]
    y = numpy.roll(x, 7)
    found = harness.apply(f'cvt.{mode}.{kind}x2.f32', x, y)
    high, low = (harness.apply(f'cvt.{mode}.{kind}.f32', v) for v in (x, y))
    assert ((found >> 16) == high.view('u2')).all()
    assert ((found & 0xffff) == low.view('u2')).all()


def test_tf32() -> None:
    x = narrowing('f32', 'f32')
    x = x[numpy.isfinite(x)]
    found = harness.apply('cvt.rna.tf32.f32', x)
    size = (x.view('u4').astype('u8') & 0x7fffffff)
    want = ((size + 0x1000) >> 13 << 13) | (x.view('u4') & 0x80000000)
    assert found.tolist() == want.tolist()
    special = numpy.array([numpy.nan, numpy.inf, -numpy.inf], 'f4')
    assert harness.apply('cvt.rna.tf32.f32', special).tolist() == [
        0x7fffffff, 0x7f800000, 0xff800000]


def test_pack() -> None:
    x, y, z = values.product(*[values.integers('i4')] * 3, edges=12)
    for dst in ('u16', 's16'):
        integer.check(f'cvt.pack.sat.{dst}.s32', lambda a, b, dst=dst:
                      integer.clamp(dst, a) % 2 ** 16 << 16
                      | integer.clamp(dst, b) % 2 ** 16, x, y)
    for dst in ('u8', 's8'):
        integer.check(f'cvt.pack.sat.{dst}.s32.b32', lambda a, b, c, dst=dst:
                      c << 16 | integer.clamp(dst, a) % 256 << 8
                      | integer.clamp(dst, b) % 256, x, y, z)
