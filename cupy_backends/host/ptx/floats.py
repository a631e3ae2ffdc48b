"""Floating-point building blocks that several instructions share.

Source: PTX ISA, "Floating Point Instructions" (subnormal numbers,
saturation, NaN).
"""
from __future__ import annotations

import re
import struct

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import optable

Builder = builder.Builder

_SUFFIX = {'float': 'f32', 'double': 'f64', 'half': 'f16'}
_BITS = {'float': 32, 'double': 64, 'half': 16}
_SMALLEST_NORMAL = {'float': 2.0 ** -126, 'half': 2.0 ** -14}


def constant(value: float, llvm: str = 'float') -> str:
    """Returns a constant in LLVM's notation, rounded to the type."""
    if llvm == 'half':
        return '0xH' + struct.pack('>e', value).hex().upper()
    if llvm == 'float':
        value = struct.unpack('f', struct.pack('f', value))[0]
    return '0x' + struct.pack('>d', value).hex().upper()


def intrinsic(b: Builder, name: str, llvm: str, *operands: str) -> str:
    """Calls an intrinsic whose operands and result are all ``llvm``."""
    return b.call(llvm, f'llvm.{name}.{_SUFFIX[llvm]}',
                  [(llvm, x) for x in operands])


def word(llvm: str) -> str:
    """Returns the integer type of the same width."""
    return f'i{_BITS[llvm]}'


def to_bits(b: Builder, llvm: str, x: str) -> str:
    return b.inst(f'bitcast {llvm} {x} to i{_BITS[llvm]}')


def from_bits(b: Builder, llvm: str, x: str) -> str:
    return b.inst(f'bitcast i{_BITS[llvm]} {x} to {llvm}')


def widen(b: Builder, llvm: str, x: str) -> str:
    """Returns the same number as a ``double``."""
    return b.cast('fpext', x, llvm, 'double')


def flush(b: Builder, x: str, llvm: str = 'float') -> str:
    """Replaces a subnormal number by a zero of the same sign."""
    if x in b.flushed or _is_normal_constant(x):
        return x
    size = intrinsic(b, 'fabs', llvm, x)
    tiny = b.inst(f'fcmp olt {llvm} {size}, '
                  + constant(_SMALLEST_NORMAL[llvm], llvm))
    found = b.select(tiny, llvm, _signed_zero(b, llvm, x), x)
    b.flushed.add(found)
    return found


def _signed_zero(b: Builder, llvm: str, x: str) -> str:
    """Returns a zero with the sign of ``x``."""
    if llvm != 'half':
        return intrinsic(b, 'copysign', llvm, constant(0, llvm), x)
    # LLVM takes the sign of a rounded double from the double itself, and
    # then needs a library call for the half-precision zero.
    sign = b.inst(f'and i16 {to_bits(b, llvm, x)}, {-2 ** 15}')
    return from_bits(b, llvm, sign)


def _is_normal_constant(x: str) -> bool:
    """Whether an operand is a single-precision constant that a flush leaves
    alone (zero, or an exponent field that is not zero)."""
    match = re.fullmatch(r'bitcast \(i32 (\d+) to float\)', x)
    if match is None:
        return False
    bits = int(match[1]) & 0x7fffffff
    return bits == 0 or bits >= 0x00800000


def saturate(b: Builder, x: str, llvm: str = 'float') -> str:
    """Clamps to [0, 1]; NaN and -0 become +0."""
    zero, one = constant(0, llvm), constant(1, llvm)
    positive = b.inst(f'fcmp ogt {llvm} {x}, {zero}')
    least = b.select(positive, llvm, x, zero)
    below = b.inst(f'fcmp olt {llvm} {least}, {one}')
    return b.select(below, llvm, least, one)


def rectify(b: Builder, x: str, llvm: str) -> str:
    """Applies ``.relu``: negative numbers become +0, NaN stays NaN."""
    keep = b.inst(f'fcmp ugt {llvm} {x}, {constant(0, llvm)}')
    return b.select(keep, llvm, x, constant(0, llvm))


def sources(b: Builder, i: optable.Form, *operands: str,
            llvm: str = 'float') -> list[str]:
    """Returns the operands, flushed if the instruction says so."""
    if not i.ftz:
        return list(operands)
    return [flush(b, x, llvm) for x in operands]


def result(b: Builder, i: optable.Form, x: str, llvm: str = 'float') -> str:
    """Applies the ``.sat``, ``.relu`` and ``.ftz`` of an instruction."""
    if i.sat:
        x = saturate(b, x, llvm)
    if 'relu' in i.mods:
        x = rectify(b, x, llvm)
    return flush(b, x, llvm) if i.ftz else x


def minmax(b: Builder, i: optable.Form, name: str, llvm: str, x: str,
           y: str) -> str:
    """Returns the smaller or larger number; -0 is less than +0.

    Of a number and a NaN the number is returned, or the NaN with ``.NaN``.
    With ``.xorsign.abs`` magnitudes are compared and the signs combined.
    """
    if 'NaN' not in i.mods:
        name += 'num'
    if 'xorsign.abs' not in i.mods:
        return intrinsic(b, name, llvm, x, y)
    sizes = [intrinsic(b, 'fabs', llvm, v) for v in (x, y)]
    size = intrinsic(b, name, llvm, *sizes)
    signs = b.inst(f'xor i{_BITS[llvm]} {to_bits(b, llvm, x)}, '
                   + to_bits(b, llvm, y))
    return intrinsic(b, 'copysign', llvm, size, from_bits(b, llvm, signs))
