"""Single and double precision against exact fractions."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
import math
from typing import Any

import numpy
import pytest

import harness
import oracle
import values

DTYPES = {'f32': numpy.float32, 'f64': numpy.float64}
MODES = ['rn', 'rz', 'rm', 'rp']
TINY = 2.0 ** -126

F32 = values.floats('f4')
F64 = values.floats('f8')


def operands(ptx: str, count: int, edges: int) -> list[Any]:
    return values.product(*[F32 if ptx == 'f32' else F64] * count,
                          edges=edges)


def near_cancellation(ptx: str) -> list[Any]:
    """Returns a, b, c with a*b close to -c, or far away from it."""
    x = (F32 if ptx == 'f32' else F64)[42:]
    with numpy.errstate(all='ignore'):
        y = x[::-1]
        z = -(x * y)
        spread = numpy.array([1, 1, 2.0**-30, 2.0**-60, 2.0**40], x.dtype)
        z = z * numpy.resize(spread, len(z))
    return [x, y, z]


def quotient(x: Fraction, y: Fraction) -> Fraction | None:
    return x / y if y else None


EXACT: dict[str, Callable[..., Fraction | None]] = {
    'add': lambda x, y: x + y,
    'sub': lambda x, y: x - y,
    'mul': lambda x, y: x * y,
    'div': quotient,
    'rcp': lambda x: quotient(Fraction(1), x),
    'fma': lambda x, y, z: x * y + z,
}


def special(name: str, mode: str, *given: Any) -> Any:
    """Returns IEEE results for infinities, NaNs and exact zeros."""
    given = tuple(numpy.asarray(g, 'f8') for g in given)
    # Scaled down so that only infinite operands give an infinity.
    x, *rest = (numpy.where(abs(g) < 1e300, numpy.copysign(
        (g != 0) + 0.0, g), g) for g in given)
    with numpy.errstate(all='ignore'):
        found = {
            'add': lambda y: x + y, 'sub': lambda y: x - y,
            'mul': lambda y: x * y, 'div': lambda y: x / y,
            'rcp': lambda: 1 / x, 'fma': lambda y, z: x * y + z,
        }[name](*rest)
    if mode == 'rm' and name in ('add', 'sub', 'fma'):
        parts = {'add': lambda y: (x, y), 'sub': lambda y: (x, -y),
                 'fma': lambda y, z: (x * y, z)}
        with numpy.errstate(all='ignore'):
            one, two = parts[name](*rest)
        same = numpy.signbit(one) & numpy.signbit(two)
        differ = numpy.signbit(one) != numpy.signbit(two)
        zero = (found == 0) & (same | differ)
        found = numpy.where(zero, -0.0, found)
    return found


def expected(name: str, ptx: str, mode: str, *given: Any) -> Any:
    result = oracle.rounded(
        EXACT[name], special(name, mode, *given), ptx, mode, *given)
    return result.astype(DTYPES[ptx])


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('ptx', ['f32', 'f64'])
@pytest.mark.parametrize('name', ['add', 'sub', 'mul', 'div', 'rcp'])
def test_rounding(name: str, ptx: str, mode: str) -> None:
    given = operands(ptx, 1 if name == 'rcp' else 2, edges=42)
    found = harness.apply(f'{name}.{mode}.{ptx}', *given)
    oracle.assert_same(found, expected(name, ptx, mode, *given), *given)


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('ptx', ['f32', 'f64'])
def test_fma(ptx: str, mode: str) -> None:
    given = [numpy.concatenate(pair) for pair in zip(
        operands(ptx, 3, edges=14), near_cancellation(ptx), strict=True)]
    found = harness.apply(f'fma.{mode}.{ptx}', *given)
    oracle.assert_same(found, expected('fma', ptx, mode, *given), *given)


def exact_root(x: Fraction) -> Fraction | None:
    """Returns the root to 200 bits, on the right side of every number of
    64 bits."""
    if x <= 0:
        return None
    shift = 400 + 2 * max(0, x.denominator.bit_length())
    scaled = (x.numerator << 2 * shift) // x.denominator
    root = math.isqrt(scaled)
    exact = root * root == scaled and scaled * x.denominator == (
        x.numerator << 2 * shift)
    return Fraction(2 * root + (not exact), 2 << shift)


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('ptx', ['f32', 'f64'])
def test_sqrt(ptx: str, mode: str) -> None:
    x = F32 if ptx == 'f32' else F64
    with numpy.errstate(all='ignore'):
        x = numpy.concatenate([x, x * x])
        plain = numpy.sqrt(x)
    found = harness.apply(f'sqrt.{mode}.{ptx}', x)
    want = oracle.rounded(exact_root, plain, ptx, mode, x)
    oracle.assert_same(found, want.astype(x.dtype), x)


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize('name', ['add', 'mul', 'div', 'fma'])
def test_flush_and_saturate(name: str, mode: str) -> None:
    count = 3 if name == 'fma' else 2
    given = operands('f32', count, edges=42 if count == 2 else 14)
    flushed = [oracle.flush(g, TINY) for g in given]
    want = oracle.flush(expected(name, 'f32', mode, *flushed), TINY)
    found = harness.apply(f'{name}.{mode}.ftz.f32', *given)
    oracle.assert_same(found, want, *given)
    if name != 'div':
        found = harness.apply(f'{name}.{mode}.ftz.sat.f32', *given)
        oracle.assert_same(
            found, oracle.flush(oracle.saturate(want), TINY), *given)


@pytest.mark.parametrize(('rounding', 'want'), [
    ('', 'fma'), ('.rn', 'two roundings')])
def test_product_and_difference_are_one_operation(
        rounding: str, want: str) -> None:
    """As on a GPU, unless the rounding is asked for (PTX ISA, mul)."""
    x, y, z = numpy.array([1.2]), numpy.array([213.0]), numpy.array([255.6])
    steps = [(f'mul{rounding}.f64', ['p'], ['x', 'y']),
             (f'sub{rounding}.f64', ['d'], ['z', 'p'])]
    found, = harness.run(
        steps, {'x': ('f64', x), 'y': ('f64', y), 'z': ('f64', z)}, ['d'])
    exact = Fraction(255.6) - Fraction(1.2) * 213
    assert found == (float(exact) if want == 'fma' else z - x * y)
    assert float(exact) != z - x * y


def test_chain_of_flushes() -> None:
    """A value that is flushed already is not flushed again, with the same
    result."""
    x, y = operands('f32', 2, edges=42)
    steps = [('mul.ftz.f32', ['p'], ['x', 'y']),
             ('neg.ftz.f32', ['n'], ['p']),
             ('fma.rn.ftz.f32', ['d'], ['n', 'y', 'x'])]
    found, = harness.run(steps, {'x': ('f32', x), 'y': ('f32', y)}, ['d'])
    p = harness.apply('mul.ftz.f32', x, y)
    want = harness.apply('fma.rn.ftz.f32', -p, y, x)
    oracle.assert_same(found, want, x, y)


def test_default_rounding_is_nearest() -> None:
    for ptx in DTYPES:
        x, y = operands(ptx, 2, edges=42)
        for name in ('add', 'sub', 'mul'):
            oracle.assert_same(harness.apply(f'{name}.{ptx}', x, y),
                               harness.apply(f'{name}.rn.{ptx}', x, y), x, y)


def smaller(x: float, y: float) -> float:
    if math.isnan(x) or math.isnan(y):
        return y if math.isnan(x) else x
    if x == y == 0:
        return -0.0 if math.copysign(1, x) + math.copysign(1, y) < 2 else 0.0
    return min(x, y)


def pairs(function: Callable[[float, float], float], x: Any, y: Any) -> Any:
    return numpy.array([function(a, b) for a, b in zip(
        x.tolist(), y.tolist(), strict=True)], x.dtype)


@pytest.mark.parametrize('ptx', ['f32', 'f64'])
def test_min_max(ptx: str) -> None:
    x, y = operands(ptx, 2, edges=42)
    least = pairs(smaller, x, y)
    oracle.assert_same(harness.apply(f'min.{ptx}', x, y), least, x, y)
    most = -pairs(smaller, -x, -y)
    oracle.assert_same(harness.apply(f'max.{ptx}', x, y), most, x, y)


@pytest.mark.parametrize('name', ['min', 'max'])
def test_min_max_modifiers(name: str) -> None:
    x, y = operands('f32', 2, edges=42)
    plain = harness.apply(f'{name}.f32', x, y)
    either = numpy.isnan(x) | numpy.isnan(y)
    oracle.assert_same(harness.apply(f'{name}.NaN.f32', x, y),
                       numpy.where(either, numpy.float32('nan'), plain), x, y)
    flushed = harness.apply(
        f'{name}.f32', oracle.flush(x, TINY), oracle.flush(y, TINY))
    oracle.assert_same(
        harness.apply(f'{name}.ftz.f32', x, y), flushed, x, y)
    sizes = harness.apply(f'{name}.f32', abs(x), abs(y))
    sign = numpy.where(numpy.signbit(x) ^ numpy.signbit(y), -1, 1)
    oracle.assert_same(harness.apply(f'{name}.xorsign.abs.f32', x, y),
                       numpy.copysign(sizes, sign.astype('f4')), x, y)


@pytest.mark.parametrize('ptx', ['f32', 'f64'])
def test_signs_and_classes(ptx: str) -> None:
    x, y = operands(ptx, 2, edges=42)
    info = numpy.finfo(x.dtype)
    oracle.assert_same(harness.apply(f'abs.{ptx}', x), abs(x), x)
    oracle.assert_same(harness.apply(f'neg.{ptx}', x), -x, x)
    # The first operand gives the sign, the second one the magnitude.
    found = harness.apply(f'copysign.{ptx}', x, y)
    assert (numpy.signbit(found) == numpy.signbit(x)).all()
    oracle.assert_same(abs(found), abs(y), x, y)
    size = abs(x)
    for name, want in {
            'finite': numpy.isfinite(x), 'infinite': numpy.isinf(x),
            'number': ~numpy.isnan(x), 'notanumber': numpy.isnan(x),
            'normal': numpy.isfinite(x) & (size >= info.tiny),
            'subnormal': (size > 0) & (size < info.tiny)}.items():
        found = harness.apply(f'testp.{name}.{ptx}', x)
        assert found.tolist() == want.tolist(), name


def test_flushed_signs() -> None:
    x = oracle.flush(F32, TINY)
    oracle.assert_same(harness.apply('abs.ftz.f32', F32), abs(x), F32)
    oracle.assert_same(harness.apply('neg.ftz.f32', F32), -x, F32)


def test_upper_half_reciprocals() -> None:
    """The double-precision approximations see and give 32 bits, and are good
    to 20 bits, with the special cases of the PTX ISA."""
    def upper(x: Any) -> Any:
        bits = x.view('u8') & 0xffffffff00000000
        kept = oracle.flush(bits.view('f8'), 2.0 ** -1022)
        return numpy.where(numpy.isnan(x), x, kept)

    with numpy.errstate(all='ignore'):
        exact = {'rcp': 1 / upper(F64), 'rsqrt': 1 / numpy.sqrt(upper(F64))}
    for name, want in exact.items():
        found = harness.apply(f'{name}.approx.ftz.f64', F64)
        number = ~numpy.isnan(found)
        assert not (found.view('u8')[number] & 0xffffffff).any()
        oracle.assert_same(found, upper(want), F64)
        finite = numpy.isfinite(want) & (abs(want) > 2.0 ** -1022)
        error = abs(found[finite] / want[finite] - 1)
        assert error.max() < 2.0 ** -19


def test_division_by_iteration() -> None:
    """A quotient as NVIDIA's compilers build it from the approximation."""
    rng = numpy.random.default_rng(3)
    x, y = rng.uniform(1, 2, (2, 2000))
    q = harness.apply('rcp.approx.ftz.f64', y)
    for _ in range(3):
        lack = harness.apply('fma.rn.f64', -y, q, numpy.float64(1))
        q = harness.apply('fma.rn.f64', q, lack, q)
    near = x * q
    lack = harness.apply('fma.rn.f64', -y, near, x)
    oracle.assert_same(harness.apply('fma.rn.f64', lack, q, near), x / y)


@pytest.mark.parametrize('name', ['rcp', 'sqrt'])
def test_approximate_like_nearest(name: str) -> None:
    for ftz in ('', '.ftz'):
        oracle.assert_same(harness.apply(f'{name}.approx{ftz}.f32', F32),
                           harness.apply(f'{name}.rn{ftz}.f32', F32), F32)


@pytest.mark.parametrize('ptx', ['f32', 'f64'])
def test_rsqrt(ptx: str) -> None:
    x = F32 if ptx == 'f32' else F64
    found = harness.apply(f'rsqrt.approx.{ptx}', x)
    with numpy.errstate(all='ignore'):
        want = 1 / numpy.sqrt(x.astype('g'))
        close(found, want, x, 2 * numpy.finfo(x.dtype).eps)


def close(found: Any, want: Any, x: Any, relative: float,
          absolute: float = 0.0) -> None:
    """Compares with a bound; infinities, NaN and zeros exactly."""
    with numpy.errstate(all='ignore'):
        want = numpy.asarray(want)
        error = abs(found - want)
        good = error <= relative * abs(want) + absolute
        good |= numpy.isnan(found) & numpy.isnan(want)
        good |= (found == want) & (
            (found != 0) | (numpy.signbit(found) == numpy.signbit(want)))
        bad = numpy.flatnonzero(~good)
    assert not bad.size, (x[bad[0]], found[bad[0]], want[bad[0]])


RANGE = numpy.concatenate([
    F32, numpy.linspace(-160, 140, 4001, dtype='f4'),
    numpy.linspace(0.5, 2, 2001, dtype='f4')])


def test_ex2() -> None:
    with numpy.errstate(all='ignore'):
        want = numpy.exp2(RANGE.astype('f8')).astype('f4')
    found = harness.apply('ex2.approx.f32', RANGE)
    close(found, want, RANGE, 2.0 ** -22, 2.0 ** -149)
    flushed = harness.apply('ex2.approx.ftz.f32', RANGE)
    oracle.assert_same(flushed, oracle.flush(found, TINY), RANGE)
    whole = numpy.arange(-149, 128, dtype='f4')
    oracle.assert_same(harness.apply('ex2.approx.f32', whole),
                       numpy.ldexp(numpy.float32(1), whole.astype(int)))


def test_lg2() -> None:
    with numpy.errstate(all='ignore'):
        want = numpy.log2(RANGE.astype('f8'))
        flushed = numpy.log2(oracle.flush(RANGE, TINY).astype('f8'))
    close(harness.apply('lg2.approx.f32', RANGE), want, RANGE, 2.0 ** -22)
    close(harness.apply('lg2.approx.ftz.f32', RANGE), flushed, RANGE,
          2.0 ** -22)


@pytest.mark.parametrize('name', ['sin', 'cos'])
def test_sin_cos(name: str) -> None:
    x = numpy.concatenate([
        RANGE, numpy.linspace(-7, 7, 4001, dtype='f4')])
    function = getattr(numpy, name)
    found = harness.apply(f'{name}.approx.f32', x)
    small = ~(abs(x) > 1e6)
    with numpy.errstate(all='ignore'):
        close(found[small], function(x[small].astype('f8')), x[small],
              2.0 ** -23, 2.0 ** -23)
    assert numpy.isnan(found[~numpy.isfinite(x)]).all()
    assert (abs(found[numpy.isfinite(x)]) <= 1).all()
    zeros = numpy.array([0.0, -0.0], 'f4')
    oracle.assert_same(harness.apply(f'{name}.approx.f32', zeros),
                       function(zeros))
    flushed = harness.apply(f'{name}.approx.ftz.f32', x)
    want = harness.apply(f'{name}.approx.f32', oracle.flush(x, TINY))
    oracle.assert_same(flushed, oracle.flush(want, TINY), x)


def test_tanh() -> None:
    x = numpy.concatenate([RANGE, numpy.linspace(-5, 5, 4001, dtype='f4')])
    with numpy.errstate(all='ignore'):
        want = numpy.tanh(x.astype('f8'))
    found = harness.apply('tanh.approx.f32', x)
    close(found, want, x, 2.0 ** -20, 2.0 ** -149)
