"""Division by a number that all threads share.

CuPy's kernels find the indices of a multi-dimensional array by dividing by
its shape, for each element.  A multiplication by a reciprocal that is
computed once is several times faster than the CPU's division.

For 32-bit ``n`` and ``d > 1``, ``n / d`` is the upper half of the product
of ``n`` and ``2**64 / d``, rounded up (Lemire, Kaser and Kurz, "Faster
remainder by direct computation", 2019).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import syntax

if TYPE_CHECKING:
    from cupy_backends.host.ptx import writer

OPCODES = frozenset(('div.u32', 'rem.u32'))

_U32 = dtypes.TYPES['u32']


class Divisor(NamedTuple):
    """What is known about a divisor, as LLVM values.

    Attributes:
        factor (str): The reciprocal, an ``i64``.
        small (str): Whether the divisor is 0 or 1.
    """

    factor: str
    small: str


def prepare(w: writer.Writer, insts: list[syntax.Inst]) -> None:
    """Computes the reciprocals of divisors that are known already.

    Args:
        w (Writer): A place outside of the loop with ``insts``.
        insts (list of Inst): Instructions that may divide.
    """
    for inst in insts:
        if inst.opcode in OPCODES and inst.args[2] in w.fixed:
            if inst.args[2] not in w.divisors:
                w.divisors[inst.args[2]] = _divisor(w, inst.args[2])


def _divisor(w: writer.Writer, reg: str) -> Divisor:
    number = w.source(reg, _U32)
    small = w.inst(f'icmp ult i32 {number}, 2')
    safe = w.select(small, 'i32', '2', number)
    wide = w.inst(f'zext i32 {safe} to i64')
    below = w.inst(f'udiv i64 -1, {wide}')
    return Divisor(w.inst(f'add i64 {below}, 1'), small)


def divide(w: writer.Writer, inst: syntax.Inst, x: str, y: str) -> str:
    """Returns quotient or remainder of ``x`` by a prepared divisor ``y``.

    Division by zero gives what the instruction gives: all ones.
    """
    divisor = w.divisors[inst.args[2]]
    wide = w.inst(f'zext i32 {x} to i128')
    factor = w.inst(f'zext i64 {divisor.factor} to i128')
    product = w.inst(f'mul nuw i128 {wide}, {factor}')
    high = w.inst(f'lshr i128 {product}, 64')
    quotient = w.inst(f'trunc i128 {high} to i32')
    zero = w.inst(f'icmp eq i32 {y}, 0')
    trivial = w.select(zero, 'i32', '-1', x)
    quotient = w.select(divisor.small, 'i32', trivial, quotient)
    if inst.opcode == 'div.u32':
        return quotient
    back = w.inst(f'mul i32 {quotient}, {y}')
    rest = w.inst(f'sub i32 {x}, {back}')
    return w.select(zero, 'i32', '-1', rest)
