"""Bitwise logic and shifts.

Source: PTX ISA, "Logic and Shift Instructions".
"""
from __future__ import annotations

import functools

from cupy_backends.host.ptx import bits
from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import optable

op = functools.partial(optable.op, section='Logic and Shift Instructions')

Builder = builder.Builder
Form = optable.Form

_LOGIC = ('pred', *dtypes.BITS)


@op('and.T d, a, b', T=_LOGIC)
def and_(b: Builder, i: Form, x: str, y: str) -> str:
    return b.inst(f'and {i.T.llvm} {x}, {y}')


@op('or.T d, a, b', T=_LOGIC)
def or_(b: Builder, i: Form, x: str, y: str) -> str:
    return b.inst(f'or {i.T.llvm} {x}, {y}')


@op('xor.T d, a, b', T=_LOGIC)
def xor(b: Builder, i: Form, x: str, y: str) -> str:
    return b.inst(f'xor {i.T.llvm} {x}, {y}')


@op('not.T d, a', T=_LOGIC)
def not_(b: Builder, i: Form, x: str) -> str:
    return b.inst(f'xor {i.T.llvm} {x}, -1')


@op('cnot.T d, a', T=dtypes.BITS)
def cnot(b: Builder, i: Form, x: str) -> str:
    zero = b.inst(f'icmp eq {i.T.llvm} {x}, 0')
    return b.cast('zext', zero, 'i1', i.T.llvm)


@op('lop3.b32 d:b32, a:b32, b:b32, c:b32, lut:b32')
def lop3(b: Builder, i: Form, x: str, y: str, z: str, lut: str) -> str:
    return _lookup(b, int(lut) & 255, (x, y, z))


@op('lop3.BOOL.b32 d:b32|p:pred, a:b32, b:b32, c:b32, lut:b32, q:pred',
    BOOL=('and', 'or'))
def lop3_bool(b: Builder, i: Form, x: str, y: str, z: str, lut: str,
              q: str) -> tuple[str, str]:
    result = lop3(b, i, x, y, z, lut)
    some = b.inst(f'icmp ne i32 {result}, 0')
    return result, b.inst(f'{i.vars["BOOL"]} i1 {some}, {q}')


def _lookup(b: Builder, table: int, operands: tuple[str, ...]) -> str:
    """Emits a bitwise function given by its truth table.

    The table splits into the halves for the first operand being 0 and 1,
    and is shortened where one of them is constant or they are related.
    """
    if not operands:
        return '-1' if table else '0'
    x, rest = operands[0], operands[1:]
    width = 2 ** len(rest)
    ones = 2 ** width - 1
    low, high = table & ones, table >> width
    if low == high:
        return _lookup(b, low, rest)
    if (low, high) == (0, ones):
        return x
    if low == 0:
        return b.inst(f'and i32 {x}, {_lookup(b, high, rest)}')
    if high == ones:
        return b.inst(f'or i32 {x}, {_lookup(b, low, rest)}')
    change = x
    if low ^ high != ones:
        change = b.inst(f'and i32 {x}, {_lookup(b, low ^ high, rest)}')
    return b.inst(f'xor i32 {change}, {_lookup(b, low, rest)}')


@op('shl.T d, a, b:u32', T=dtypes.BITS)
def shl(b: Builder, i: Form, x: str, amount: str) -> str:
    return bits.shift(b, 'shl', i.T.bits, x, amount)


@op('shr.T d, a, b:u32', T=dtypes.INT + dtypes.BITS)
def shr(b: Builder, i: Form, x: str, amount: str) -> str:
    return bits.shift(b, 'ashr' if i.T.signed else 'lshr', i.T.bits, x,
                      amount)


@op('shf.DIR.MODE.b32 d:b32, a:b32, b:b32, c:u32', DIR=('l', 'r'),
    MODE=('clamp', 'wrap'))
def shf(b: Builder, i: Form, low: str, high: str, amount: str) -> str:
    """Shifts the 64-bit value ``high:low``; gives the upper word when it
    goes left, the lower one when it goes right."""
    shifted = b.call('i32', f'llvm.fsh{i.vars["DIR"]}.i32', [
        ('i32', high), ('i32', low), ('i32', amount)])
    if i.vars['MODE'] == 'wrap':
        return shifted
    inside = b.inst(f'icmp ult i32 {amount}, 32')
    beyond = low if i.vars['DIR'] == 'l' else high
    return b.select(inside, 'i32', shifted, beyond)
