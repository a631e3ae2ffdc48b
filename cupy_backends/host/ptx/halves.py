"""Half precision and bfloat16: conversions and packed values.

A bf16 value is an ``i16``, the upper half of a single-precision number.

Source: PTX ISA, "Alternate Floating-Point Data Formats", "Packed
Floating-Point Data Types".
"""
from __future__ import annotations

from collections.abc import Callable

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import floats
from cupy_backends.host.ptx import rounding

Builder = builder.Builder

_ELEMENTS = {'f16x2': 'f16', 'bf16x2': 'bf16'}


def element(ptx: dtypes.PTXType) -> dtypes.PTXType:
    """Returns the type of the elements of a packed type, or the type."""
    return dtypes.TYPES[_ELEMENTS.get(ptx.name, ptx.name)]


def is_packed(ptx: dtypes.PTXType) -> bool:
    return ptx.name in _ELEMENTS


def elements(b: Builder, ptx: dtypes.PTXType, x: str) -> list[str]:
    """Returns the lower and the upper element of a packed value."""
    return [b.inst(f'extractelement {ptx.llvm} {x}, i32 {k}')
            for k in range(2)]


def pack(b: Builder, ptx: dtypes.PTXType, low: str, high: str) -> str:
    kind = element(ptx).llvm
    value = b.inst(f'insertelement {ptx.llvm} poison, {kind} {low}, i32 0')
    return b.inst(f'insertelement {ptx.llvm} {value}, {kind} {high}, i32 1')


def each(b: Builder, ptx: dtypes.PTXType, function: Callable[..., str],
         *operands: str) -> str:
    """Applies a function to a value, or to both elements of a packed one."""
    if not is_packed(ptx):
        return function(*operands)
    lows, highs = zip(*(elements(b, ptx, x) for x in operands), strict=True)
    return pack(b, ptx, function(*lows), function(*highs))


def widen(b: Builder, ptx: dtypes.PTXType, x: str) -> str:
    """Returns an f16 or bf16 value as a ``float``."""
    if ptx.name == 'f16':
        return b.inst(f'fpext half {x} to float')
    bits = b.inst(f'zext i16 {x} to i32')
    return floats.from_bits(b, 'float', b.inst(f'shl i32 {bits}, 16'))


def narrow(b: Builder, ptx: dtypes.PTXType, x: str, mode: str = 'rn', *,
           src: str = 'float', rest: str = '') -> str:
    """Rounds ``x + rest``, once, to f16 or bf16.

    Args:
        rest (str): What ``x`` lacks to the exact value; bf16 and directed
            modes only.
    """
    if ptx.name == 'f16':
        return rounding.narrow(b, mode, x, rest, 'half', src)
    if src == 'double':
        x = rounding.narrow(b, 'odd', x, rest)
    return _narrow_bfloat(b, mode, x)


def _narrow_bfloat(b: Builder, mode: str, x: str) -> str:
    """Rounds a ``float`` to its upper half; NaN becomes 0x7fff."""
    bits = floats.to_bits(b, 'float', x)
    upper = b.inst(f'lshr i32 {bits}, 16')
    if mode == 'rn':
        bias = b.inst(f'add i32 {b.inst(f"and i32 {upper}, 1")}, 32767')
    else:
        bias = _directed_bias(b, mode, bits)
    upper = b.inst(f'lshr i32 {b.inst(f"add i32 {bits}, {bias}")}, 16')
    number = b.inst(f'fcmp ord float {x}, {x}')
    return b.cast('trunc', b.select(number, 'i32', upper, '32767'),
                  'i32', 'i16')


def _directed_bias(b: Builder, mode: str, bits: str) -> str:
    """Returns what to add before the lower half is cut off."""
    if mode == 'rz':
        return '0'
    sign = b.inst(f'icmp slt i32 {bits}, 0')
    ones = ('65535', '0') if mode == 'rm' else ('0', '65535')
    return b.select(sign, 'i32', *ones)
