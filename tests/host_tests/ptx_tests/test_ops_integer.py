"""Integer arithmetic against Python's unbounded integers."""
from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

import numpy
import pytest

import harness
import oracle
import values

from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import optable

INT = dtypes.INT


def check(opcode: str, function: Callable[..., int], *operands: Any) -> None:
    """Compares a form with a function of Python integers, modulo 2**n."""
    found = harness.apply(opcode, *operands)
    columns = [o.tolist() for o in operands if not isinstance(o, int)]
    width = optable.TABLE[opcode].dests[0].bits
    fixed = [o for o in operands if isinstance(o, int)]
    expected = numpy.array(
        [function(*row, *fixed) % 2 ** width for row in
         zip(*columns, strict=True)], f'u{width // 8}').view(found.dtype)
    oracle.assert_same(found, expected, *columns)


def operands(*names: str, edges: int = 34) -> list[Any]:
    arrays = [values.integers(str(harness.numpy_dtype(dtypes.TYPES[n])))
              for n in names]
    return values.product(*arrays, edges=edges)


def limits(name: str) -> tuple[int, int]:
    info = numpy.iinfo(str(harness.numpy_dtype(dtypes.TYPES[name])))
    return int(info.min), int(info.max)


def clamp(name: str, value: int) -> int:
    least, most = limits(name)
    return max(least, min(most, value))


def truncated(x: int, y: int) -> int:
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


def signed(value: int, width: int) -> int:
    value %= 2 ** width
    return value - 2 ** width if value >> (width - 1) else value


BINARY: dict[str, Callable[[int, int], int]] = {
    'add': lambda x, y: x + y,
    'sub': lambda x, y: x - y,
    'mul.lo': lambda x, y: x * y,
    'min': min,
    'max': max,
    'div': lambda x, y: truncated(x, y) if y else -1,
    'rem': lambda x, y: x - y * truncated(x, y) if y else -1,
}


@pytest.mark.parametrize('ptx', INT)
@pytest.mark.parametrize('name', BINARY)
def test_binary(name: str, ptx: str) -> None:
    check(f'{name}.{ptx}', BINARY[name], *operands(ptx, ptx))


@pytest.mark.parametrize('divisor', [1, 7, -3, -1, 2**32 - 1, 0])
@pytest.mark.parametrize('name', ['div.s32', 'rem.s32'])
def test_constant_divisor(name: str, divisor: int) -> None:
    """A negative constant may be spelled as an unsigned one."""
    check(name, lambda x, y: BINARY[name[:3]](x, signed(y, 32)),
          values.integers('i4'), divisor)


@pytest.mark.parametrize('ptx', INT)
def test_high_half(ptx: str) -> None:
    bits = dtypes.TYPES[ptx].bits
    x, y, z = operands(ptx, ptx, ptx, edges=12)
    check(f'mul.hi.{ptx}', lambda x, y: x * y >> bits, x, y)
    check(f'mad.hi.{ptx}', lambda x, y, z: (x * y >> bits) + z, x, y, z)
    check(f'mad.lo.{ptx}', lambda x, y, z: x * y + z, x, y, z)
    check(f'sad.{ptx}', lambda x, y, z: abs(x - y) + z, x, y, z)


@pytest.mark.parametrize('ptx', ['u16', 's16', 'u32', 's32'])
def test_wide(ptx: str) -> None:
    x, y, z = operands(ptx, ptx, dtypes.wider(ptx), edges=12)
    check(f'mul.wide.{ptx}', lambda x, y: x * y, x, y)
    check(f'mad.wide.{ptx}', lambda x, y, z: x * y + z, x, y, z)


def test_saturating() -> None:
    x, y, z = operands('s32', 's32', 's32', edges=14)
    sat = functools.partial(clamp, 's32')
    check('add.sat.s32', lambda x, y: sat(x + y), x, y)
    check('sub.sat.s32', lambda x, y: sat(x - y), x, y)
    check('mad.hi.sat.s32', lambda x, y, z: sat((x * y >> 32) + z), x, y, z)
    check('min.relu.s32', lambda x, y: max(0, min(x, y)), x, y)
    check('max.relu.s32', lambda x, y: max(0, x, y), x, y)


@pytest.mark.parametrize('ptx', ['u32', 's32'])
def test_24_bits(ptx: str) -> None:
    def product(x: int, y: int) -> int:
        if ptx == 's32':
            return signed(x, 24) * signed(y, 24)
        return x % 2 ** 24 * (y % 2 ** 24)

    x, y, z = operands(ptx, ptx, ptx, edges=14)
    check(f'mul24.lo.{ptx}', product, x, y)
    check(f'mul24.hi.{ptx}', lambda x, y: product(x, y) >> 16, x, y)
    check(f'mad24.lo.{ptx}', lambda x, y, z: product(x, y) + z, x, y, z)
    check(f'mad24.hi.{ptx}',
          lambda x, y, z: (product(x, y) >> 16) + z, x, y, z)
    if ptx == 's32':
        check('mad24.hi.sat.s32', lambda x, y, z: clamp(
            ptx, signed(product(x, y) >> 16, 32) + z), x, y, z)


@pytest.mark.parametrize('ptx', ['s16', 's32', 's64'])
def test_sign(ptx: str) -> None:
    x, = operands(ptx)
    check(f'neg.{ptx}', lambda x: -x, x)
    check(f'abs.{ptx}', abs, x)


@pytest.mark.parametrize('bits', [32, 64])
def test_counts(bits: int) -> None:
    x, = operands(f'u{bits}')
    check(f'popc.b{bits}', int.bit_count, x)
    check(f'clz.b{bits}', lambda x: bits - x.bit_length(), x)
    check(f'brev.b{bits}', lambda x: int(f'{x:0{bits}b}'[::-1], 2), x)


@pytest.mark.parametrize('ptx', ['u32', 's32', 'u64', 's64'])
def test_bfind(ptx: str) -> None:
    top = dtypes.TYPES[ptx].bits - 1
    x, = operands(ptx)
    check(f'bfind.{ptx}', lambda x: (x ^ -(x < 0)).bit_length() - 1, x)
    check(f'bfind.shiftamt.{ptx}', lambda x: top + 1 - (
        x ^ -(x < 0)).bit_length() if x not in (0, -1) else -1, x)


def find_nth(mask: int, base: int, offset: int) -> int:
    places = [k for k in range(32) if mask >> k & 1]
    if offset == 0:
        return base if base in places else -1
    if offset < 0:
        places = [k for k in places if k <= base][::-1]
    else:
        places = [k for k in places if k >= base]
    n = abs(offset)
    return places[n - 1] if n <= len(places) else -1


def test_fns() -> None:
    mask = numpy.append(values.integers('u4', 60), 0xaaaaaaaa)
    base = numpy.arange(32, dtype='u4')
    offset = numpy.append(
        numpy.arange(-34, 35, dtype='i4'), [2**31 - 1, -2**31])
    rng = numpy.random.default_rng(1)
    check('fns.b32', find_nth, *(rng.choice(a, 20000).astype(a.dtype)
                                 for a in (mask, base, offset)))


PLACES = numpy.array([*range(66), 100, 255, 256, 257, 2**32 - 1], 'u4')


@pytest.mark.parametrize('ptx', ['u32', 's32', 'u64', 's64'])
def test_bfe(ptx: str) -> None:
    width = dtypes.TYPES[ptx].bits

    def extract(x: int, start: int, length: int) -> int:
        start, length = start % 256, length % 256
        field = x >> start
        return signed(field, length) if ptx[0] == 's' and length \
            else field % 2 ** width % 2 ** length

    x = operands(ptx)[0][:50]
    check(f'bfe.{ptx}', extract, *values.product(x, PLACES, PLACES, edges=71))


@pytest.mark.parametrize('width', [32, 64])
def test_bfi(width: int) -> None:
    def insert(x: int, y: int, start: int, length: int) -> int:
        mask = (2 ** (length % 256) - 1 << start % 256) % 2 ** width
        return y & ~mask | x << start % 256 & mask

    x, y = operands(f'u{width}', f'u{width}')
    rng = numpy.random.default_rng(1)
    check(f'bfi.b{width}', insert, *(
        rng.choice(a, 20000) for a in (x, y, PLACES, PLACES)))
    check(f'bfi.b{width}', insert, x, y, 5, 9)


@pytest.mark.parametrize('ptx', ['u32', 's32'])
@pytest.mark.parametrize('mode', ['clamp', 'wrap'])
def test_szext(mode: str, ptx: str) -> None:
    def extend(x: int, n: int) -> int:
        n = n % 32 if mode == 'wrap' else min(n, 32)
        if not n:
            return 0
        return signed(x, n) if ptx == 's32' else x % 2 ** n

    x, = operands(ptx)
    check(f'szext.{mode}.{ptx}', extend,
          *values.product(x, PLACES, edges=71))


@pytest.mark.parametrize('mode', ['clamp', 'wrap'])
def test_bmsk(mode: str) -> None:
    def mask(start: int, width: int) -> int:
        if mode == 'wrap':
            start, width = start % 32, width % 32
        return (2 ** min(width, 32) - 1) << min(start, 32)

    check(f'bmsk.{mode}.b32', mask,
          *values.product(PLACES, PLACES, edges=71))


def lanes(x: int, count: int, kind: str) -> list[int]:
    width = 32 // count
    parts = [x >> width * k & 2 ** width - 1 for k in range(count)]
    return [signed(p, width) for p in parts] if kind == 's32' else parts


@pytest.mark.parametrize('right', ['u32', 's32'])
@pytest.mark.parametrize('left', ['u32', 's32'])
def test_dot(left: str, right: str) -> None:
    def dot(x: int, y: int, z: int, count: int, first: int) -> int:
        pairs = zip(lanes(x, count, left), lanes(y, 4, right)[first:],
                    strict=False)
        return z + sum(a * b for a, b in pairs)

    given = operands('b32', 'b32', 's32', edges=12)
    for name, count, first in [
            ('dp4a', 4, 0), ('dp2a.lo', 2, 0), ('dp2a.hi', 2, 2)]:
        check(f'{name}.{left}.{right}', functools.partial(
            dot, count=count, first=first), *given)


@pytest.mark.parametrize('name', ['add', 'min', 'max'])
@pytest.mark.parametrize('ptx', ['u16x2', 's16x2'])
def test_packed(name: str, ptx: str) -> None:
    kind = ptx[0] + '16'
    x, y = (numpy.resize(a, 2 * (len(a) // 2))
            for a in operands(kind, kind))
    found = harness.apply(f'{name}.{ptx}', x.view('u4'), y.view('u4'))
    expected = harness.apply(f'{name}.{kind}', x, y)
    oracle.assert_same(found.view(expected.dtype), expected, x, y)
