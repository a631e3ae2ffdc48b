"""Constants and conversions between the LLVM types of registers.

Source: PTX ISA, sections "Constants" and "Operand Size Exceeding
Instruction-Type Size".
"""
from __future__ import annotations

import re
import struct

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes

U64 = dtypes.TYPES['u64']

_BITS = {t.llvm: t.bits for t in dtypes.TYPES.values()}

_NUMBER = re.compile(
    r'(-?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(\d+))U?')
_HEX_FLOAT = re.compile(r'(-?)0(?:[fF]([0-9a-fA-F]{8})|[dD]([0-9a-fA-F]{16}))')


def bits_of(llvm: str) -> int:
    """Returns the width in bits of an LLVM type of the table."""
    return _BITS[llvm]


def fit(b: builder.Builder, value: str, have: str, want: str,
        signed: bool = False) -> str:
    """Converts a value to another LLVM type by its bits.

    A wider value is cut; a narrower one is extended.

    Args:
        b (Builder): Where to emit.
        value (str): A value of the LLVM type ``have``.
        want (str): The LLVM type wanted.
        signed (bool): Whether to extend by the sign.
    """
    if have == want:
        return value
    from_bits, to_bits = _BITS[have], _BITS[want]
    middle = f'i{from_bits}'
    value = b.cast('bitcast', value, have, middle)
    if from_bits > to_bits:
        value = b.cast('trunc', value, middle, f'i{to_bits}')
    elif from_bits < to_bits:
        op = 'sext' if signed else 'zext'
        value = b.cast(op, value, middle, f'i{to_bits}')
    return b.cast('bitcast', value, f'i{to_bits}', want)


def immediate(text: str, kind: dtypes.PTXType) -> str | None:
    """Returns a constant operand as LLVM text, or None if it is none.

    Args:
        text (str): Operand as written, such as ``'0f3F800000'``.
        kind (PTXType): Type of the operand.
    """
    number = constant_bits(text, kind)
    if number is None:
        return None
    return _llvm_constant(number, kind)


def _llvm_constant(bits: int, kind: dtypes.PTXType) -> str:
    if kind.llvm == 'i1':
        return 'true' if bits else 'false'
    if kind.llvm[0] == 'i':
        return str(bits)
    if kind.llvm == 'double':
        return f'0x{bits:016X}'
    if kind.llvm == 'half':
        return f'0xH{bits:04X}'
    if kind.llvm == 'float' and bits & 0x7f800000 != 0x7f800000:
        # LLVM wants a float written as the double of the same value.
        value = struct.unpack('<f', struct.pack('<I', bits))[0]
        return f'0x{struct.unpack("<Q", struct.pack("<d", value))[0]:016X}'
    return f'bitcast (i{kind.bits} {bits} to {kind.llvm})'


def constant_bits(text: str, kind: dtypes.PTXType) -> int | None:
    """Returns the bits of a constant of type ``kind``, None if it is none."""
    number = _float_bits(text, kind)
    if number is None:
        number = _integer(text)
    return None if number is None else number & ((1 << kind.bits) - 1)


def _integer(text: str) -> int | None:
    """Reads an integer: decimal, ``0x`` hex, ``0b`` binary, octal."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return 32 if text == 'WARP_SZ' else None
    sign, hexadecimal, binary, digits = match.groups()
    if hexadecimal:
        value = int(hexadecimal, 16)
    elif binary:
        value = int(binary, 2)
    else:
        value = int(digits, 8 if digits[0] == '0' else 10)
    return -value if sign else value


def _float_bits(text: str, kind: dtypes.PTXType) -> int | None:
    """Reads a floating-point constant as the bits of ``kind``.

    For a type that is not floating-point these are the bits as written.
    """
    match = _HEX_FLOAT.fullmatch(text)
    if match is None:
        return _decimal_bits(text, kind)
    sign, single, double = match.groups()
    width = 32 if single else 64
    bits = int(single or double, 16)
    if sign:
        bits ^= 1 << (width - 1)
    if not kind.is_float or kind.bits == width:
        return bits
    value = struct.unpack('<f' if single else '<d',
                          bits.to_bytes(width // 8, 'little'))[0]
    return _pack(value, kind)


def _decimal_bits(text: str, kind: dtypes.PTXType) -> int | None:
    if not kind.is_float or not re.fullmatch(r'-?\d+\.\d*(?:[eE]-?\d+)?',
                                             text):
        return None
    return _pack(float(text), kind)


def _pack(value: float, kind: dtypes.PTXType) -> int:
    code = {'double': '<d', 'float': '<f', 'half': '<e'}[kind.llvm]
    return int.from_bytes(struct.pack(code, value), 'little')
