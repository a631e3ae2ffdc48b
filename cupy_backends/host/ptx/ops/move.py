"""Moves within registers and byte permutation.

Packing and unpacking (``mov.b64 d, {a, b}``) is not a matter of the table:
the operands' shape decides, not the opcode.

Source: PTX ISA, "Data Movement and Conversion Instructions".
"""
from __future__ import annotations

from collections.abc import Callable
import functools

from cupy_backends.host.ptx import bits
from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import optable

op = functools.partial(
    optable.op, section='Data Movement and Conversion Instructions')

Builder = builder.Builder
Form = optable.Form


@op('mov.T d, a', T=dtypes.INT + dtypes.BITS + dtypes.FLOAT
    + ('b128', 'pred'))
def mov(b: Builder, i: Form, x: str) -> str:
    return x


@op('prmt.b32 d:b32, a:b32, b:b32, c:b32')
def prmt(b: Builder, i: Form, x: str, y: str, selector: str) -> str:
    """Picks four of the eight bytes ``y:x``, one per nibble of the selector;
    a nibble's top bit replicates the sign of the byte instead."""
    both = _concatenate(b, x, y)
    nibbles = [bits.shift(b, 'lshr', 32, selector, str(4 * k))
               if bits.constant(selector) is None
               else str(int(selector) >> 4 * k & 15) for k in range(4)]
    return _join(b, [_signed_byte(b, both, n) for n in nibbles])


def _concatenate(b: Builder, x: str, y: str) -> str:
    low = bits.resize(b, x, 32, 64)
    high = b.inst(f'shl i64 {bits.resize(b, y, 32, 64)}, 32')
    return b.inst(f'or i64 {high}, {low}')


def _signed_byte(b: Builder, both: str, nibble: str) -> str:
    known = bits.constant(nibble)
    if known is not None:
        byte = _byte(b, both, str(known & 7))
        return b.inst(f'ashr i8 {byte}, 7') if known & 8 else byte
    byte = _byte(b, both, b.inst(f'and i32 {nibble}, 7'))
    replicate = b.inst(f'and i32 {nibble}, 8')
    sign = b.inst(f'ashr i8 {byte}, 7')
    return b.select(b.inst(f'icmp ne i32 {replicate}, 0'), 'i8', sign, byte)


def _byte(b: Builder, both: str, index: str) -> str:
    """Returns byte ``index`` (an ``i32``, 0 to 7) of an ``i64``."""
    amount = b.inst(f'shl i64 {bits.resize(b, index, 32, 64)}, 3')
    return bits.resize(b, b.inst(f'lshr i64 {both}, {amount}'), 64, 8)


def _join(b: Builder, parts: list[str]) -> str:
    """Joins four ``i8``, the lowest first."""
    vector = 'poison'
    for k, part in enumerate(parts):
        vector = b.inst(
            f'insertelement <4 x i8> {vector}, i8 {part}, i32 {k}')
    return b.inst(f'bitcast <4 x i8> {vector} to i32')


# Index of the byte that goes to place k, as a function of the low two bits
# of the selector.
_MODES: dict[str, Callable[[Builder, str, int], str]] = {
    'f4e': lambda b, s, k: b.inst(f'add i32 {s}, {k}'),
    'b4e': lambda b, s, k: b.inst(
        f'and i32 {b.inst(f"sub i32 {s}, {k}")}, 7'),
    'rc8': lambda b, s, k: s,
    'ecl': lambda b, s, k: b.call(
        'i32', 'llvm.umax.i32', [('i32', s), ('i32', str(k))]),
    'ecr': lambda b, s, k: b.call(
        'i32', 'llvm.umin.i32', [('i32', s), ('i32', str(k))]),
    'rc16': lambda b, s, k: b.inst(
        f'or i32 {b.inst(f"shl i32 {_odd(b, s)}, 1")}, {k & 1}'),
}


def _odd(b: Builder, selector: str) -> str:
    return b.inst(f'and i32 {selector}, 1')


@op('prmt.b32.MODE d:b32, a:b32, b:b32, c:b32', MODE=tuple(_MODES))
def prmt_mode(b: Builder, i: Form, x: str, y: str, selector: str) -> str:
    both = _concatenate(b, x, y)
    low = b.inst(f'and i32 {selector}, 3')
    index = _MODES[i.vars['MODE']]
    return _join(b, [_byte(b, both, index(b, low, k)) for k in range(4)])
