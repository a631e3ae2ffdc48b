"""Carry chains: multi-word arithmetic against unbounded integers."""
from __future__ import annotations

from typing import Any

import numpy
import pytest

import harness
import values


def words(count: int, width: int, seed: int) -> Any:
    """Returns ``count`` arrays of words, rich in zeros and ones."""
    rng = numpy.random.default_rng(seed)
    plain = values.integers(f'u{width // 8}')
    few = numpy.array([0, 1, 2 ** width - 1, 2 ** (width - 1)], plain.dtype)
    return [numpy.where(rng.random(2000) < 0.5, rng.choice(few, 2000),
                        rng.choice(plain, 2000)) for _ in range(count)]


def whole(parts: Any, width: int) -> list[int]:
    rows = zip(*(p.tolist() for p in parts), strict=True)
    return [sum(v << width * k for k, v in enumerate(row)) for row in rows]


@pytest.mark.parametrize('ptx', ['u32', 's32', 'b32', 'u64', 's64'])
@pytest.mark.parametrize('name', ['add', 'sub'])
def test_three_words(name: str, ptx: str) -> None:
    width = int(ptx[1:])
    x, y = words(3, width, 1), words(3, width, 2)
    inputs = {f'{n}{k}': (ptx, a[k])
              for n, a in (('x', x), ('y', y)) for k in range(3)}
    zero = {'zero': (ptx, numpy.zeros_like(x[0]))}
    opcodes = [f'{name}.cc', f'{name}c.cc', f'{name}c.cc']
    steps = [(f'{o}.{ptx}', [f'd{k}'], [f'x{k}', f'y{k}'])
             for k, o in enumerate(opcodes)]
    steps.append((f'{name}c.{ptx}', ['flag'], ['zero', 'zero']))
    found = harness.run(steps, inputs | zero, ['d0', 'd1', 'd2', 'flag'])
    sign = 1 if name == 'add' else -1
    found = [f.view(f'u{width // 8}') for f in found]
    expected = [(a + sign * b) % 2 ** (4 * width) for a, b in
                zip(whole(x, width), whole(y, width), strict=True)]
    assert whole(found, width) == expected


@pytest.mark.parametrize('ptx', ['u32', 'u64'])
def test_multiply_two_words(ptx: str) -> None:
    width = int(ptx[1:])
    x, y, z = (words(n, width, n) for n in (2, 1, 3))
    inputs = {f'{n}{k}': (ptx, v) for n, a in
              (('x', x), ('y', y), ('z', z)) for k, v in enumerate(a)}
    inputs['zero'] = (ptx, numpy.zeros_like(x[0]))
    steps = [(f'{o}.{ptx}', [d], s) for o, d, s in [
        ('mad.lo.cc', 'd0', ['x0', 'y0', 'z0']),
        ('madc.lo.cc', 'e1', ['x1', 'y0', 'z1']),
        ('addc', 'e2', ['z2', 'zero']),
        ('mad.hi.cc', 'd1', ['x0', 'y0', 'e1']),
        ('madc.hi.cc', 'd2', ['x1', 'y0', 'e2']),
        ('addc', 'd3', ['zero', 'zero'])]]
    found = harness.run(steps, inputs, ['d0', 'd1', 'd2', 'd3'])
    expected = [a * b + c for a, b, c in zip(
        whole(x, width), whole(y, width), whole(z, width), strict=True)]
    # The last carry of z2 + 1 is dropped by the program above.
    lost = [v for v in expected if v >= 2 ** (4 * width)]
    assert not lost
    keep = numpy.flatnonzero(z[2] != 2 ** width - 1)
    assert keep.size > 1000
    got = whole(found, width)
    assert [got[k] for k in keep] == [expected[k] for k in keep]


def test_signed_high_product() -> None:
    x, y, z = words(3, 32, 7)
    found = harness.apply('mad.hi.cc.s32', *(v.view('i4') for v in (x, y, z)))
    rows = zip(*(v.view('i4').tolist() for v in (x, y, z)), strict=True)
    expected = [((a * b >> 32) + c) % 2 ** 32 for a, b, c in rows]
    assert found.view('u4').tolist() == expected
