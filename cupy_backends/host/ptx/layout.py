"""Where variables lie in memory: parameters, shared, module arena."""
from __future__ import annotations

from collections.abc import Iterable
import re
import struct
from typing import NamedTuple

from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import parser
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import values


class Layout(NamedTuple):
    """Offsets of variables in one block of memory.

    Attributes:
        offsets (dict): Offset in bytes of each variable.
        size (int): Bytes up to the end of the last.
    """

    offsets: dict[str, int]
    size: int


def round_up(value: int, align: int) -> int:
    return -(-value // align) * align


def lay_out(variables: Iterable[syntax.Variable]) -> Layout:
    """Places variables one after the other, each on its alignment."""
    offsets: dict[str, int] = {}
    end = 0
    for variable in variables:
        start = round_up(end, max(1, variable.align))
        offsets[variable.name] = start
        end = start + variable.size
    return Layout(offsets, end)


def lay_out_shared(variables: Iterable[syntax.Variable]) -> Layout:
    """Places the shared variables of a kernel.

    Arrays without a size (``.extern .shared``) all start where the static
    part ends, which is where dynamic shared memory follows.
    """
    # Kernels treat arrays of bytes as what they like: give them all the
    # alignment that any type may need.
    found = [v._replace(align=max(v.align, 16)) for v in variables]
    static = lay_out(v for v in found if v.length >= 0)
    size = round_up(static.size, 16)
    for variable in found:
        if variable.length < 0:
            static.offsets[variable.name] = size
    return Layout(static.offsets, size)


class Arena(NamedTuple):
    """The module's ``.global`` and ``.const`` variables.

    Attributes:
        offsets (dict): Offset of each variable.
        size (int): Bytes altogether.
        init (bytes): Initial contents, up to the last initialised byte.
        relocations (list): Pairs (offset, offset of symbol plus addend):
            at the first stands the arena's address plus the second.
    """

    offsets: dict[str, int]
    size: int
    init: bytes
    relocations: list[tuple[int, int]]


_SYMBOL = re.compile(
    r'(?:generic\()?\s*([A-Za-z_$%][\w$]*)\s*\)?\s*(?:\+\s*(\d+))?')
_VALUE = re.compile(r'[^\s,{}][^,{}]*')


def arena(table: parser.SymbolTable) -> Arena:
    """Lays out and initialises the variables of a module.

    Raises:
        PTXSyntaxError: An initialiser cannot be read.
    """
    found = [v for v in table.variables.values()
             if v.space in ('global', 'const')]
    offsets, size = lay_out(found)
    image = bytearray()
    relocations: list[tuple[int, int]] = []
    for variable in found:
        if variable.init:
            _initialise(table, variable, offsets, image, relocations)
    return Arena(offsets, size, bytes(image), relocations)


def _initialise(table: parser.SymbolTable, variable: syntax.Variable,
                offsets: dict[str, int], image: bytearray,
                relocations: list[tuple[int, int]]) -> None:
    start = offsets[variable.name]
    plain = _plain_bytes(variable)
    if plain is None:
        plain = bytearray()
        for number, text in enumerate(_VALUE.findall(variable.init)):
            at = start + number * variable.type.size
            plain += _element(table, variable, text.strip(), at, offsets,
                              relocations)
    if len(image) < start:
        image.extend(bytes(start - len(image)))
    image[start:start + len(plain)] = plain


def _plain_bytes(variable: syntax.Variable) -> bytearray | None:
    """Reads a flat list of decimal bytes, the usual and longest case."""
    if variable.type.size != 1:
        return None
    try:
        return bytearray(int(t) & 255 for t in
                         variable.init.strip('{} \t\n').split(','))
    except ValueError:
        return None


def _element(table: parser.SymbolTable, variable: syntax.Variable,
             text: str, at: int, offsets: dict[str, int],
             relocations: list[tuple[int, int]]) -> bytes:
    kind = variable.type
    bits = values.constant_bits(text, kind)
    if bits is not None:
        return bits.to_bytes(kind.size, 'little')
    match = _SYMBOL.fullmatch(text)
    if match is not None and match[1] in offsets and kind.size == 8:
        relocations.append((at, offsets[match[1]] + int(match[2] or 0)))
        return struct.pack('<Q', 0)
    if match is not None and match[1] in table.functions:
        # Only an indirect call could use it, which is an error of its own.
        return bytes(kind.size)
    raise errors.PTXSyntaxError(
        f'cannot read the initialiser "{text}" of {variable.name}',
        table.line(variable.pos))
