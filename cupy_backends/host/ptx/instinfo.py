"""What an instruction reads and writes, told from its text.

The carry flag counts as a register, so that it lives across blocks like
any other.
"""
from __future__ import annotations

import functools
import re
from typing import NamedTuple

from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx import stops
from cupy_backends.host.ptx import syntax

CARRY = '$carry'

_WORD = re.compile(r'[%$\w~]+')
_DIGITS = frozenset('0123456789-')
_READS_CARRY = ('addc', 'subc', 'madc')


class Effects(NamedTuple):
    """Registers that an instruction writes and reads."""

    defs: tuple[str, ...]
    uses: tuple[str, ...]


def effects(inst: syntax.Inst, body: syntax.Body) -> Effects:
    """Returns the registers that ``inst`` writes and reads.

    A guarded instruction also reads what it may leave as it is.
    """
    traits = _traits(inst.opcode)
    count = traits.dests
    if traits.is_call:
        count = int(inst.args[0][0] == '(')
    defs: list[str] = []
    uses: list[str] = []
    regs = body.regs
    for number, arg in enumerate(inst.args):
        target = uses if number >= count else defs
        if arg in regs:
            target.append(arg)
        elif arg[0] not in _DIGITS:
            target += [w for w in _WORD.findall(arg) if w in regs]
    if traits.carry_out:
        defs.append(CARRY)
    if traits.carry_in:
        uses.append(CARRY)
    if inst.pred:
        uses.append(inst.pred)
        uses += defs
    return Effects(tuple(defs), tuple(uses))


class _Traits(NamedTuple):
    """What the opcode alone tells."""

    dests: int
    is_call: bool
    carry_out: bool
    carry_in: bool


@functools.cache
def _traits(opcode: str) -> _Traits:
    mnemonic = opcode.split('.', 1)[0]
    form = optable.TABLE.get(opcode)
    family = optable.FAMILIES.get(mnemonic)
    if form is not None:
        has_dest = bool(form.dests)
    elif family is not None:
        has_dest = family.has_dest
    else:
        has_dest = stops.has_dest(opcode)
    return _Traits(int(has_dest), mnemonic == 'call', '.cc' in opcode,
                   mnemonic in _READS_CARRY)


def is_pure(inst: syntax.Inst) -> bool:
    """Returns whether it may run where the program would not have run it."""
    return inst.opcode in optable.TABLE and '.cc' not in inst.opcode
