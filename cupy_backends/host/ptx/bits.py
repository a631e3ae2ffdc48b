"""Integer building blocks that several instructions share.

LLVM's shifts give poison when the amount reaches the width; those of PTX
clamp.  Constant operands are recognised so that common code stays short.
"""
from __future__ import annotations

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes


def constant(value: str) -> int | None:
    """Returns the integer that an operand spells, if it is a constant."""
    return int(value) if value.lstrip('-').isdigit() else None


def suffix(ptx: dtypes.PTXType) -> str:
    """Returns the type suffix of LLVM's intrinsics (``i32``, ``v2i16``)."""
    return 'v2i16' if ptx.llvm.startswith('<') else ptx.llvm


def resize(b: builder.Builder, value: str, src: int, dst: int,
           signed: bool = False) -> str:
    """Truncates, or extends by sign or zero, ``value`` of ``src`` bits."""
    if src >= dst:
        return b.cast('trunc', value, f'i{src}', f'i{dst}')
    return b.cast('sext' if signed else 'zext', value, f'i{src}', f'i{dst}')


def shift(b: builder.Builder, op: str, bits: int, x: str,
          amount: str) -> str:
    """Shifts by an ``i32`` amount; the width or more shifts all bits out.

    Args:
        op (str): ``'shl'``, ``'lshr'`` or ``'ashr'``.
    """
    known = constant(amount)
    if known is not None:
        return _shift_constant(b, op, bits, x, known & 0xffffffff)
    if op == 'ashr':
        amount = b.call('i32', 'llvm.umin.i32',
                        [('i32', amount), ('i32', str(bits - 1))])
        return b.inst(f'ashr i{bits} {x}, {resize(b, amount, 32, bits)}')
    inside = b.inst(f'icmp ult i32 {amount}, {bits}')
    shifted = b.inst(f'{op} i{bits} {x}, {resize(b, amount, 32, bits)}')
    return b.select(inside, f'i{bits}', shifted, '0')


def _shift_constant(b: builder.Builder, op: str, bits: int, x: str,
                    amount: int) -> str:
    if amount >= bits and op != 'ashr':
        return '0'
    return b.inst(f'{op} i{bits} {x}, {min(amount, bits - 1)}')


def low_mask(b: builder.Builder, bits: int, count: str) -> str:
    """Returns ``2**count - 1``; all ones from ``count == bits`` on."""
    return b.inst(f'xor i{bits} {shift(b, "shl", bits, "-1", count)}, -1')


def minmax(b: builder.Builder, op: str, ptx: dtypes.PTXType, x: str,
           y: str) -> str:
    """Returns the smaller or larger value (``op`` is ``min`` or ``max``)."""
    sign = 's' if ptx.signed else 'u'
    return b.call(ptx.llvm, f'llvm.{sign}{op}.{suffix(ptx)}',
                  [(ptx.llvm, x), (ptx.llvm, y)])
