"""What an instruction reads and writes, told from its text.

The carry flag counts as a register, so that it lives across blocks like
any other.
"""
from __future__ import annotations

import re
from typing import NamedTuple

from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx import stops
from cupy_backends.host.ptx import syntax

CARRY = '$carry'

_WORD = re.compile(r'[%$\w~]+')
_READS_CARRY = ('addc', 'subc', 'madc')


class Effects(NamedTuple):
    """Registers that an instruction writes and reads."""

    defs: tuple[str, ...]
    uses: tuple[str, ...]


def effects(inst: syntax.Inst, body: syntax.Body) -> Effects:
    """Returns the registers that ``inst`` writes and reads.

    A guarded instruction also reads what it may leave as it is.
    """
    regs = body.regs
    dests = inst.args[:1] if has_dest(inst) else ()
    sources = inst.args[len(dests):]
    defs = [w for a in dests for w in _words(a) if w in regs]
    uses = [w for a in sources for w in _words(a) if w in regs]
    mnemonic = inst.opcode.split('.', 1)[0]
    if '.cc' in inst.opcode:
        defs.append(CARRY)
    if mnemonic in _READS_CARRY:
        uses.append(CARRY)
    if inst.pred:
        uses.append(inst.pred)
        uses += defs
    return Effects(tuple(defs), tuple(uses))


def _words(arg: str) -> list[str]:
    # Most operands are one register: the scan is the slower way.
    if arg[0] == '%' and arg[1:].isalnum():
        return [arg]
    return _WORD.findall(arg)


def has_dest(inst: syntax.Inst) -> bool:
    """Returns whether the first operand is a destination."""
    form = optable.TABLE.get(inst.opcode)
    if form is not None:
        return bool(form.dests)
    mnemonic = inst.opcode.split('.', 1)[0]
    if mnemonic == 'call':
        return inst.args[0][0] == '('
    family = optable.FAMILIES.get(mnemonic)
    if family is not None:
        return family.has_dest
    return stops.has_dest(inst)


def is_pure(inst: syntax.Inst) -> bool:
    """Returns whether it may run where the program would not have run it."""
    return inst.opcode in optable.TABLE and '.cc' not in inst.opcode
