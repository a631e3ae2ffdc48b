"""PTX fundamental types and how they look in LLVM.

Source: PTX ISA, section "Types" (fundamental types, restricted use of
sub-word sizes, packed types).
"""
from __future__ import annotations

from typing import NamedTuple


class PTXType(NamedTuple):
    """A PTX operand type.

    Attributes:
        name (str): The PTX spelling without the dot, such as ``'s32'``.
        kind (str): ``'b'``, ``'s'``, ``'u'``, ``'f'``, ``'bf'`` or ``'pred'``.
        bits (int): Width in bits; 1 for predicates.
        llvm (str): The LLVM type that holds a value of this type.
    """

    name: str
    kind: str
    bits: int
    llvm: str

    @property
    def size(self) -> int:
        """Size in memory, in bytes."""
        return max(1, self.bits // 8)

    @property
    def signed(self) -> bool:
        return self.kind == 's'

    @property
    def is_float(self) -> bool:
        return self.kind in ('f', 'bf')


def _integers() -> list[PTXType]:
    return [PTXType(f'{kind}{bits}', kind, bits, f'i{bits}')
            for kind in 'bsu' for bits in (8, 16, 32, 64)]


# bf16 is an i16 here: x86 has no bfloat arithmetic to lower it to, so the
# operations in ops/half.py widen it to float themselves.
_ALL = _integers() + [
    PTXType('b128', 'b', 128, 'i128'),
    PTXType('f16', 'f', 16, 'half'),
    PTXType('f32', 'f', 32, 'float'),
    PTXType('f64', 'f', 64, 'double'),
    PTXType('u16x2', 'u', 32, '<2 x i16>'),
    PTXType('s16x2', 's', 32, '<2 x i16>'),
    PTXType('f16x2', 'f', 32, '<2 x half>'),
    PTXType('bf16', 'bf', 16, 'i16'),
    PTXType('bf16x2', 'bf', 32, '<2 x i16>'),
    PTXType('pred', 'pred', 1, 'i1'),
]

TYPES: dict[str, PTXType] = {t.name: t for t in _ALL}

# Type sets for the patterns of the op table.
SINT = ('s16', 's32', 's64')
UINT = ('u16', 'u32', 'u64')
INT = UINT + SINT
BITS = ('b16', 'b32', 'b64')
FLOAT = ('f32', 'f64')

_WIDER = {'u16': 'u32', 's16': 's32', 'u32': 'u64', 's32': 's64'}


def wider(name: str) -> str:
    """Returns the integer type of twice the width (``mul.wide``)."""
    return _WIDER[name]
