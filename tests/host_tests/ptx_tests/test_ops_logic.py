"""Logic, shifts, moves and byte permutation against Python integers."""
from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

import harness
import test_ops_integer as integer
import values

from cupy_backends.host.ptx import dtypes

check, operands, signed = integer.check, integer.operands, integer.signed

LOGIC: dict[str, Callable[..., int]] = {
    'and': lambda x, y: x & y,
    'or': lambda x, y: x | y,
    'xor': lambda x, y: x ^ y,
}


@pytest.mark.parametrize('ptx', ['b16', 'b32', 'b64'])
def test_bitwise(ptx: str) -> None:
    x, y = operands(ptx, ptx)
    for name, function in LOGIC.items():
        check(f'{name}.{ptx}', function, x, y)
    check(f'not.{ptx}', lambda x: ~x, x)
    check(f'cnot.{ptx}', lambda x: not x, x)
    check(f'mov.{ptx}', lambda x: x, x)


def test_predicates() -> None:
    x, y = numpy.array([[0, 0, 1, 1], [0, 1, 0, 1]], '?')
    assert harness.apply('and.pred', x, y).tolist() == (x & y).tolist()
    assert harness.apply('or.pred', x, y).tolist() == (x | y).tolist()
    assert harness.apply('xor.pred', x, y).tolist() == (x ^ y).tolist()
    assert harness.apply('not.pred', x).tolist() == (~x).tolist()
    assert harness.apply('mov.pred', x).tolist() == x.tolist()


AMOUNTS = [*range(67), 128, 255, 256, 2**16, 2**16 + 1, 2**31, 2**32 - 1]


@pytest.mark.parametrize('ptx', dtypes.INT + dtypes.BITS)
def test_shift(ptx: str) -> None:
    x, = operands(ptx)
    given = values.product(x, numpy.array(AMOUNTS, 'u4'), edges=73)
    check(f'shr.{ptx}', lambda x, n: x >> n, *given)
    if ptx[0] == 'b':
        check(f'shl.{ptx}', lambda x, n: x << min(n, 64), *given)


@pytest.mark.parametrize('amount', [0, 1, 15, 31, 32, 63, 64, 65, 2**32 - 1])
@pytest.mark.parametrize('ptx', ['s32', 'u32', 'b64', 's64'])
def test_constant_shift(ptx: str, amount: int) -> None:
    x, = operands(ptx)
    check(f'shr.{ptx}', lambda x, n: x >> n, x, amount)
    check(f'shl.b{ptx[1:]}', lambda x, n: x << min(n, 64),
          x.view(f'u{x.itemsize}'), amount)


@pytest.mark.parametrize('mode', ['clamp', 'wrap'])
def test_funnel(mode: str) -> None:
    def amount(n: int) -> int:
        return min(n, 32) if mode == 'clamp' else n % 32

    low, high = operands('b32', 'b32', edges=20)
    for n in AMOUNTS:
        given = low, high, numpy.full(len(low), n, 'u4')
        check(f'shf.l.{mode}.b32',
              lambda a, b, n: ((b << 32 | a) << amount(n)) >> 32, *given)
        check(f'shf.r.{mode}.b32',
              lambda a, b, n: (b << 32 | a) >> amount(n), *given)


def test_lop3_every_table() -> None:
    x, y, z = (numpy.array([0xf0], 'u4'), numpy.array([0xcc], 'u4'),
               numpy.array([0xaa], 'u4'))
    for lut in range(256):
        found = int(harness.apply('lop3.b32', x, y, z, lut)[0])
        assert found & 0xff == lut
        assert found >> 8 == (0xffffff if lut & 1 else 0)


def test_lop3_predicate() -> None:
    x, y = operands('b32', 'b32')
    q = numpy.arange(len(x)) % 2 == 0
    value, p = harness.apply('lop3.or.b32', x, y, y, 0xc0, q)
    assert (value == x & y).all()
    assert (p == ((x & y != 0) | q)).all()
    _, p = harness.apply('lop3.and.b32', x, y, y, 0xc0, q)
    assert (p == ((x & y != 0) & q)).all()


def permute(x: int, y: int, selector: int) -> int:
    both = y << 32 | x
    result = 0
    for k in range(4):
        nibble = selector >> 4 * k & 15
        byte = both >> 8 * (nibble & 7) & 255
        if nibble & 8:
            byte = 255 * (byte >> 7)
        result |= byte << 8 * k
    return result


def test_prmt() -> None:
    x, y, selector = operands('b32', 'b32', 'b32', edges=14)
    check('prmt.b32', permute, x, y, selector)
    for fixed in (0x3210, 0x7654, 0x0123, 0xba98, 0x3340, 0x12345c5d):
        check('prmt.b32', permute, x, y, fixed)


# Bytes chosen for the selectors 0 to 3, the highest place first.
MODES = {
    'f4e': ['3210', '4321', '5432', '6543'],
    'b4e': ['5670', '6701', '7012', '0123'],
    'rc8': ['0000', '1111', '2222', '3333'],
    'ecl': ['3210', '3211', '3222', '3333'],
    'ecr': ['0000', '1110', '2210', '3210'],
    'rc16': ['1010', '3232', '1010', '3232'],
}


@pytest.mark.parametrize('mode', MODES)
def test_prmt_mode(mode: str) -> None:
    x, y, selector = operands('b32', 'b32', 'b32', edges=14)
    check(f'prmt.b32.{mode}', lambda x, y, s: permute(
        x, y, int(MODES[mode][s % 4], 16)), x, y, selector)
