"""Layout of the memory that a warp keeps across stops.

Described in ``csrc/kernel_abi.h`` (``hd_kernel``): the next-stop words, then
arrays of 32 lanes, then the lanes' local memory.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import instinfo
from cupy_backends.host.ptx import layout
from cupy_backends.host.ptx import syntax

_LANES = 32
_WORDS = 128
_ALIGN = 128
# Operands of the stop that a lane waits at; bytes per lane.
_SCRATCH = {'a': 8, 'b': 4, 'c': 4, 'mask': 4}


class Frame(NamedTuple):
    """Offsets in bytes from the start of a warp's frame.

    Attributes:
        slots (dict): Slot of each register that lives across a stop.
        scratch (dict): Slot of the operands a, b, c and mask.
        locals (dict): Offset of each local variable in a lane's part.
        local_start, local_stride (int): Where the lanes' parts start, and
            the size of one.
        size (int): Size of the whole, a multiple of 128.
    """

    slots: dict[str, int]
    scratch: dict[str, int]
    locals: dict[str, int]
    local_start: int
    local_stride: int
    size: int


def build(body: syntax.Body, kept: Sequence[Sequence[str]],
          params: frozenset[str]) -> Frame:
    """Lays out the frame of a kernel.

    Args:
        body (Body): The kernel's body.
        kept (list): The registers that live across each stop.  Two that
            never do so together may share a slot.
        params (set of str): Kernel parameters, which are no locals.
    """
    slots: dict[str, int] = {}
    end = _WORDS
    for size in (16, 8, 4, 2, 1):
        colours = _colour([[reg for reg in regs if _size(body, reg) == size]
                           for regs in kept])
        for reg, colour in colours.items():
            slots[reg] = end + colour * size * _LANES
        end += (max(colours.values(), default=-1) + 1) * size * _LANES
    scratch = {}
    for name, size in _SCRATCH.items():
        end = layout.round_up(end, 16 * size)
        scratch[name] = end
        end += size * _LANES
    found = layout.lay_out(
        v for v in body.variables.values()
        if v.space in ('local', 'param') and v.name not in params)
    start = layout.round_up(end, _ALIGN)
    stride = layout.round_up(found.size, 16)
    size = layout.round_up(start + stride * _LANES, _ALIGN)
    return Frame(slots, scratch, found.offsets, start, stride, size)


def _size(body: syntax.Body, reg: str) -> int:
    kind = dtypes.TYPES['pred'] if reg == instinfo.CARRY else body.regs[reg]
    return kind.size


def _colour(groups: list[list[str]]) -> dict[str, int]:
    """Numbers names so that no two of a group have the same number."""
    neighbours: dict[str, set[str]] = {}
    for group in groups:
        for name in group:
            neighbours.setdefault(name, set()).update(group)
    colours: dict[str, int] = {}
    for name, others in neighbours.items():
        taken = {colours[o] for o in others if o in colours}
        colours[name] = next(n for n in range(len(taken) + 1)
                             if n not in taken)
    return colours
