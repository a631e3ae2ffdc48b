"""Turns call parameters that were inlined into registers.

A parameter is memory in PTX (``.param`` space).  Once the call is gone and
each place of it is only read and written as a whole by one type, a register
does as well, which does not have to be kept in a warp's frame.
"""
from __future__ import annotations

from collections.abc import Iterable
import re
from typing import NamedTuple

from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer

_ACCESS = re.compile(r'(ld|st)\.(?:param|local)\.([bsuf](?:16|32|64))')
_WORD = re.compile(r'[%$\w~]+')


class _Place(NamedTuple):
    variable: str
    offset: int


def run(body: syntax.Body, names: Iterable[str]) -> None:
    """Promotes variables of a body where possible.

    Args:
        body (Body): It is changed.
        names: The variables to look at.
    """
    sizes = _places(body, set(names))
    for place, bits in sizes.items():
        body.regs[_register(place)] = dtypes.TYPES[f'b{bits}']
    body.items = [_replace(item, sizes) for item in body.items]
    for name in {place.variable for place in sizes}:
        del body.variables[name]


def _register(place: _Place) -> str:
    return f'{place.variable}~at{place.offset}'


def _places(body: syntax.Body, names: set[str]) -> dict[_Place, int]:
    """Returns the bits of each place of the variables to be promoted."""
    sizes: dict[_Place, int] = {}
    lost: set[str] = set()
    for item in body.items:
        if not isinstance(item, syntax.Inst):
            continue
        place = _place(item, names)
        if place is None:
            lost.update(w for arg in item.args for w in _WORD.findall(arg)
                        if w in names)
        elif sizes.setdefault(place, _bits(item)) != _bits(item):
            lost.add(place.variable)
    lost |= _overlapping(sizes)
    return {place: bits for place, bits in sizes.items()
            if place.variable not in lost}


def _place(inst: syntax.Inst, names: set[str]) -> _Place | None:
    """Returns what a plain load or store accesses of one of ``names``."""
    match = _ACCESS.fullmatch(inst.opcode)
    if match is None:
        return None
    name, offset = writer.split_address(
        inst.args[match[1] == 'ld'])
    return _Place(name, offset) if name in names else None


def _bits(inst: syntax.Inst) -> int:
    return dtypes.TYPES[inst.opcode.rsplit('.', 1)[1]].bits


def _overlapping(sizes: dict[_Place, int]) -> set[str]:
    found: set[str] = set()
    end = _Place('', 0)
    for place, bits in sorted(sizes.items()):
        if place.variable == end.variable and place.offset < end.offset:
            found.add(place.variable)
        end = _Place(place.variable, place.offset + bits // 8)
    return found


def _replace(item: syntax.Inst | syntax.Label,
             sizes: dict[_Place, int]) -> syntax.Inst | syntax.Label:
    if not isinstance(item, syntax.Inst):
        return item
    place = _place(item, {place.variable for place in sizes})
    if place is None:
        return item
    kind = item.opcode.rsplit('.', 1)[1]
    if item.opcode.startswith('st'):
        return item._replace(opcode=f'mov.b{kind[1:]}',
                             args=(_register(place), item.args[1]))
    # A load may extend what it loads; a move cuts or extends as well.
    opcode = f'cvt.{kind}.{kind}' if kind[0] in 'su' else f'mov.{kind}'
    return item._replace(opcode=opcode,
                         args=(item.args[0], _register(place)))
