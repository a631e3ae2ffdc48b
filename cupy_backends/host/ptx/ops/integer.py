"""Integer arithmetic.

Source: PTX ISA, "Integer Arithmetic Instructions".
"""
from __future__ import annotations

import functools

from cupy_backends.host.ptx import bits
from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import optable

op = functools.partial(
    optable.op, section='Integer Arithmetic Instructions')

Builder = builder.Builder
Form = optable.Form

_PACKED = ('u16x2', 's16x2')
_NARROW = ('u16', 'u32', 's16', 's32')
_WORDS = ('u32', 's32')
_FIELDS = ('u32', 'u64', 's32', 's64')
_RAW = ('b32', 'b64')


@op('add.T d, a, b', T=dtypes.INT + _PACKED)
def add(b: Builder, i: Form, x: str, y: str) -> str:
    return b.inst(f'add {i.T.llvm} {x}, {y}')


@op('sub.T d, a, b', T=dtypes.INT)
def sub(b: Builder, i: Form, x: str, y: str) -> str:
    return b.inst(f'sub {i.T.llvm} {x}, {y}')


@op('add.sat.T d, a, b', T=('s32',))
def add_sat(b: Builder, i: Form, x: str, y: str) -> str:
    return _saturating(b, 'sadd', x, y)


@op('sub.sat.T d, a, b', T=('s32',))
def sub_sat(b: Builder, i: Form, x: str, y: str) -> str:
    return _saturating(b, 'ssub', x, y)


def _saturating(b: Builder, name: str, x: str, y: str) -> str:
    return b.call('i32', f'llvm.{name}.sat.i32', [('i32', x), ('i32', y)])


@op('mul.lo.T d, a, b', T=dtypes.INT)
def mul_lo(b: Builder, i: Form, x: str, y: str) -> str:
    return b.inst(f'mul {i.T.llvm} {x}, {y}')


@op('mul.hi.T d, a, b', T=dtypes.INT)
def mul_hi(b: Builder, i: Form, x: str, y: str) -> str:
    return high_half(b, i.T, x, y)


@op('mul.wide.T d:W, a, b', T=_NARROW)
def mul_wide(b: Builder, i: Form, x: str, y: str) -> str:
    return _wide_product(b, i.T, x, y)


def _wide_product(b: Builder, ptx: dtypes.PTXType, x: str, y: str) -> str:
    x, y = (bits.resize(b, v, ptx.bits, ptx.bits * 2, ptx.signed)
            for v in (x, y))
    return b.inst(f'mul i{ptx.bits * 2} {x}, {y}')


def high_half(b: Builder, ptx: dtypes.PTXType, x: str, y: str) -> str:
    """Returns the upper half of the product of twice the width."""
    product = _wide_product(b, ptx, x, y)
    upper = b.inst(f'lshr i{ptx.bits * 2} {product}, {ptx.bits}')
    return bits.resize(b, upper, ptx.bits * 2, ptx.bits)


@op('mad.lo.T d, a, b, c', T=dtypes.INT)
def mad_lo(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    return b.inst(f'add {i.T.llvm} {mul_lo(b, i, x, y)}, {z}')


@op('mad.hi.T d, a, b, c', T=dtypes.INT)
def mad_hi(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    return b.inst(f'add {i.T.llvm} {high_half(b, i.T, x, y)}, {z}')


@op('mad.hi.sat.T d, a, b, c', T=('s32',))
def mad_hi_sat(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    return _saturating(b, 'sadd', high_half(b, i.T, x, y), z)


@op('mad.wide.T d:W, a, b, c:W', T=_NARROW)
def mad_wide(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    product = _wide_product(b, i.T, x, y)
    return b.inst(f'add i{i.T.bits * 2} {product}, {z}')


@op('mul24.HALF.T d, a, b', T=_WORDS, HALF=('lo', 'hi'))
def mul24(b: Builder, i: Form, x: str, y: str) -> str:
    """Multiplies the low 24 bits; ``hi`` gives bits 47..16 of 48."""
    x, y = (_low24(b, i.T, v) for v in (x, y))
    product = b.inst(f'mul i64 {x}, {y}')
    if i.vars['HALF'] == 'hi':
        product = b.inst(f'lshr i64 {product}, 16')
    return bits.resize(b, product, 64, 32)


def _low24(b: Builder, ptx: dtypes.PTXType, x: str) -> str:
    low = bits.resize(b, x, 32, 24)
    return bits.resize(b, low, 24, 64, ptx.signed)


@op('mad24.HALF.T d, a, b, c', T=_WORDS, HALF=('lo', 'hi'))
def mad24(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    return b.inst(f'add i32 {mul24(b, i, x, y)}, {z}')


@op('mad24.HALF.sat.T d, a, b, c', T=('s32',), HALF=('hi',))
def mad24_hi_sat(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    return _saturating(b, 'sadd', mul24(b, i, x, y), z)


@op('sad.T d, a, b, c', T=dtypes.INT)
def sad(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    larger = bits.minmax(b, 'max', i.T, x, y)
    smaller = bits.minmax(b, 'min', i.T, x, y)
    distance = b.inst(f'sub {i.T.llvm} {larger}, {smaller}')
    return b.inst(f'add {i.T.llvm} {distance}, {z}')


@op('div.T d, a, b', T=dtypes.INT)
def div(b: Builder, i: Form, x: str, y: str) -> str:
    return _divide(b, i.T, 'div', x, y)


@op('rem.T d, a, b', T=dtypes.INT)
def rem(b: Builder, i: Form, x: str, y: str) -> str:
    return _divide(b, i.T, 'rem', x, y)


def _divide(b: Builder, ptx: dtypes.PTXType, name: str, x: str,
            y: str) -> str:
    """Divides without the traps of the host.

    PTX leaves division by zero unspecified; NVIDIA's GPUs give all ones for
    quotient and remainder, and so does this.  ``MIN / -1`` wraps to ``MIN``
    with remainder 0, which is what dividing by 1 gives.
    """
    text = f'{"s" if ptx.signed else "u"}{name} {ptx.llvm} {x}, '
    known = bits.constant(y)
    if known is not None and known % 2 ** ptx.bits not in (
            0, 2 ** ptx.bits - 1):
        return b.inst(text + y)
    zero = b.inst(f'icmp eq {ptx.llvm} {y}, 0')
    bad = zero
    if ptx.signed:
        least = b.inst(f'icmp eq {ptx.llvm} {x}, {-2 ** (ptx.bits - 1)}')
        minus = b.inst(f'icmp eq {ptx.llvm} {y}, -1')
        bad = b.inst(f'or i1 {zero}, {b.inst(f"and i1 {least}, {minus}")}')
    safe = b.select(bad, ptx.llvm, '1', y)
    return b.select(zero, ptx.llvm, '-1', b.inst(text + safe))


@op('abs.T d, a', T=dtypes.SINT)
def absolute(b: Builder, i: Form, x: str) -> str:
    return b.call(i.T.llvm, f'llvm.abs.{i.T.llvm}',
                  [(i.T.llvm, x), ('i1', 'false')])


@op('neg.T d, a', T=dtypes.SINT)
def neg(b: Builder, i: Form, x: str) -> str:
    return b.inst(f'sub {i.T.llvm} 0, {x}')


@op('min.T d, a, b', T=dtypes.INT + _PACKED)
def minimum(b: Builder, i: Form, x: str, y: str) -> str:
    return bits.minmax(b, 'min', i.T, x, y)


@op('max.T d, a, b', T=dtypes.INT + _PACKED)
def maximum(b: Builder, i: Form, x: str, y: str) -> str:
    return bits.minmax(b, 'max', i.T, x, y)


@op('min.relu.T d, a, b', T=('s32', 's16x2'))
def min_relu(b: Builder, i: Form, x: str, y: str) -> str:
    least = bits.minmax(b, 'min', i.T, x, y)
    return bits.minmax(b, 'max', i.T, least, 'zeroinitializer')


@op('max.relu.T d, a, b', T=('s32', 's16x2'))
def max_relu(b: Builder, i: Form, x: str, y: str) -> str:
    most = bits.minmax(b, 'max', i.T, x, y)
    return bits.minmax(b, 'max', i.T, most, 'zeroinitializer')


@op('popc.T d:u32, a', T=_RAW)
def popc(b: Builder, i: Form, x: str) -> str:
    count = b.call(i.T.llvm, f'llvm.ctpop.{i.T.llvm}', [(i.T.llvm, x)])
    return bits.resize(b, count, i.T.bits, 32)


@op('clz.T d:u32, a', T=_RAW)
def clz(b: Builder, i: Form, x: str) -> str:
    return _leading_zeros(b, i.T, x)


def _leading_zeros(b: Builder, ptx: dtypes.PTXType, x: str) -> str:
    count = b.call(ptx.llvm, f'llvm.ctlz.{ptx.llvm}',
                   [(ptx.llvm, x), ('i1', 'false')])
    return bits.resize(b, count, ptx.bits, 32)


@op('bfind{.shiftamt}.T d:u32, a', T=_FIELDS)
def bfind(b: Builder, i: Form, x: str) -> str:
    """Finds the highest bit that differs from the sign; -1 if none does."""
    if i.T.signed:
        sign = b.inst(f'ashr {i.T.llvm} {x}, {i.T.bits - 1}')
        x = b.inst(f'xor {i.T.llvm} {x}, {sign}')
    count = _leading_zeros(b, i.T, x)
    if 'shiftamt' not in i.mods:
        return b.inst(f'sub i32 {i.T.bits - 1}, {count}')
    none = b.inst(f'icmp eq {i.T.llvm} {x}, 0')
    return b.select(none, 'i32', '-1', count)


@op('brev.T d, a', T=_RAW)
def brev(b: Builder, i: Form, x: str) -> str:
    return _reverse(b, i.T.llvm, x)


def _reverse(b: Builder, llvm: str, x: str) -> str:
    return b.call(llvm, f'llvm.bitreverse.{llvm}', [(llvm, x)])


@op('fns.b32 d:b32, mask:b32, base:b32, offset:s32')
def fns(b: Builder, i: Form, mask: str, base: str, offset: str) -> str:
    """Finds the n-th set bit, upwards or downwards from ``base``.

    Downwards is upwards in the reversed mask.  Offset 0 asks for the bit
    at ``base`` itself.
    """
    down = b.inst(f'icmp slt i32 {offset}, 0')
    mirrored = b.inst(f'sub i32 31, {base}')
    mask = b.select(down, 'i32', _reverse(b, 'i32', mask), mask)
    start = b.select(down, 'i32', mirrored, base)
    left = bits.shift(b, 'lshr', 32, mask, start)
    only = b.inst(f'icmp eq i32 {offset}, 0')
    left = b.select(only, 'i32', b.inst(f'and i32 {left}, 1'), left)
    nth = b.call('i32', 'llvm.abs.i32', [('i32', offset), ('i1', 'false')])
    nth = b.call('i32', 'llvm.umax.i32', [('i32', nth), ('i32', '1')])
    total = b.call('i32', 'llvm.ctpop.i32', [('i32', left)])
    place = b.inst(f'add i32 {_select_bit(b, left, nth)}, {start}')
    up = b.select(down, 'i32', b.inst(f'sub i32 31, {place}'), place)
    found = b.inst(f'icmp ule i32 {nth}, {total}')
    return b.select(found, 'i32', up, '-1')


def _select_bit(b: Builder, mask: str, nth: str) -> str:
    """Returns the position of the ``nth`` (from 1) set bit, by bisection."""
    place = '0'
    for width in (16, 8, 4, 2, 1):
        low = b.inst(f'and i32 {mask}, {2 ** width - 1}')
        count = b.call('i32', 'llvm.ctpop.i32', [('i32', low)])
        above = b.inst(f'icmp ugt i32 {nth}, {count}')
        rest = b.inst(f'sub i32 {nth}, {count}')
        nth = b.select(above, 'i32', rest, nth)
        high = b.inst(f'lshr i32 {mask}, {width}')
        mask = b.select(above, 'i32', high, mask)
        further = b.inst(f'add i32 {place}, {width}')
        place = b.select(above, 'i32', further, place)
    return place


@op('bfe.T d, a, b:u32, c:u32', T=_FIELDS)
def bfe(b: Builder, i: Form, x: str, start: str, length: str) -> str:
    start, length = _byte(b, start), _byte(b, length)
    kind = 'ashr' if i.T.signed else 'lshr'
    field = bits.shift(b, kind, i.T.bits, x, start)
    return _extend(b, kind, i.T.bits, field, length)


def _byte(b: Builder, amount: str) -> str:
    known = bits.constant(amount)
    if known is not None:
        return str(known & 255)
    return b.inst(f'and i32 {amount}, 255')


def _extend(b: Builder, kind: str, width: int, x: str, length: str) -> str:
    """Extends the low ``length`` bits by sign (``ashr``) or zero."""
    inside = b.call('i32', 'llvm.umin.i32',
                    [('i32', length), ('i32', str(width))])
    unused = b.inst(f'sub i32 {width}, {inside}')
    left = bits.shift(b, 'shl', width, x, unused)
    return bits.shift(b, kind, width, left, unused)


@op('bfi.T f, a, b, c:u32, d:u32', T=_RAW)
def bfi(b: Builder, i: Form, x: str, y: str, start: str,
        length: str) -> str:
    start, length = _byte(b, start), _byte(b, length)
    low = bits.low_mask(b, i.T.bits, length)
    mask = bits.shift(b, 'shl', i.T.bits, low, start)
    placed = bits.shift(b, 'shl', i.T.bits, x, start)
    inside = b.inst(f'and {i.T.llvm} {placed}, {mask}')
    kept = b.inst(f'and {i.T.llvm} {y}, '
                  + b.inst(f'xor {i.T.llvm} {mask}, -1'))
    return b.inst(f'or {i.T.llvm} {kept}, {inside}')


@op('szext.MODE.T d, a, b:u32', T=_WORDS, MODE=('clamp', 'wrap'))
def szext(b: Builder, i: Form, x: str, length: str) -> str:
    if i.vars['MODE'] == 'wrap':
        length = b.inst(f'and i32 {length}, 31')
    return _extend(b, 'ashr' if i.T.signed else 'lshr', 32, x, length)


@op('bmsk.MODE.b32 d:b32, a:u32, b:u32', MODE=('clamp', 'wrap'))
def bmsk(b: Builder, i: Form, start: str, width: str) -> str:
    if i.vars['MODE'] == 'wrap':
        start, width = (b.inst(f'and i32 {v}, 31') for v in (start, width))
    end = b.call('i32', 'llvm.uadd.sat.i32',
                 [('i32', start), ('i32', width)])
    from_start = bits.shift(b, 'shl', 32, '-1', start)
    return b.inst(f'and i32 {from_start}, {bits.low_mask(b, 32, end)}')


@op('dp4a.A.B d:s32, a:b32, b:b32, c:s32', A=_WORDS, B=_WORDS)
def dp4a(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    left = _lanes(b, i.vars['A'], x, 4)
    right = _lanes(b, i.vars['B'], y, 4)
    return _dot(b, 4, left, right, z)


@op('dp2a.HALF.A.B d:s32, a:b32, b:b32, c:s32', A=_WORDS, B=_WORDS,
    HALF=('lo', 'hi'))
def dp2a(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    """Multiplies two 16-bit values by the lower or upper two bytes."""
    left = _lanes(b, i.vars['A'], x, 2)
    right = _lanes(b, i.vars['B'], y, 4)
    first = 2 if i.vars['HALF'] == 'hi' else 0
    right = b.inst(f'shufflevector <4 x i32> {right}, <4 x i32> poison, '
                   f'<2 x i32> <i32 {first}, i32 {first + 1}>')
    return _dot(b, 2, left, right, z)


def _lanes(b: Builder, kind: str, x: str, count: int) -> str:
    """Splits a word into ``count`` parts, each extended to 32 bits."""
    part = f'<{count} x i{32 // count}>'
    split = b.inst(f'bitcast i32 {x} to {part}')
    extend = 'sext' if kind[0] == 's' else 'zext'
    return b.inst(f'{extend} {part} {split} to <{count} x i32>')


def _dot(b: Builder, count: int, x: str, y: str, z: str) -> str:
    products = b.inst(f'mul <{count} x i32> {x}, {y}')
    total = b.call('i32', f'llvm.vector.reduce.add.v{count}i32',
                   [(f'<{count} x i32>', products)])
    return b.inst(f'add i32 {total}, {z}')
