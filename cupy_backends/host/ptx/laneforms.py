"""Finds out how addresses in a lane loop grow from lane to lane.

If the registers that a loop increases differ by a constant from each lane
to the next, such that neighbouring lanes access neighbouring elements, LLVM
can load them as vectors.  Which constant that has to be is told from the
code; whether it is so must be checked when the loop is entered.
"""
from __future__ import annotations

import re
from typing import NamedTuple

from cupy_backends.host.ptx import laneloops
from cupy_backends.host.ptx import modifiers
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import values
from cupy_backends.host.ptx import writer

_ADD = re.compile(r'add\.[su]64')
_WIDE = re.compile(r'(?:mul|mad)\.wide\.[su]32')
_CONVERT = re.compile(r'cvt\.[su]64\.[su]32')


class Form(NamedTuple):
    """A register that is ``factor * induction`` plus something uniform.

    With ``shifted``, the induction's upper 32 bits stand for it.
    """

    induction: str
    factor: int
    shifted: bool


def strides(loop: laneloops.LaneLoop) -> tuple[
        dict[str, int], dict[str, str]] | None:
    """Returns what makes accesses of neighbouring lanes adjacent.

    Returns:
        tuple: For inductions, the difference from one lane to the next;
        and registers that hold the upper half of one.  None if there are
        no such accesses.
    """
    forms = {reg: Form(reg, 1, False) for reg in loop.inductions}
    found: dict[str, int] = {}
    halves: dict[str, str] = {}
    spans: dict[Form, int] = {}
    advanced: set[str] = set()
    for block in loop.graph.blocks.values():
        for inst, effect in zip(block.insts, block.effects):
            if inst.opcode.startswith(('ld.', 'st.')):
                _note_access(inst, forms, spans)
            form = _form(inst, loop, forms)
            for reg in effect.defs:
                if reg not in loop.inductions:
                    forms.pop(reg, None)
                    if form is not None:
                        forms[reg] = form
            advanced.update(loop.inductions.keys() & effect.defs)
            if (form is not None and inst.opcode == 'shr.s64'
                    and form.induction not in advanced):
                halves[effect.defs[0]] = form.induction
    for form, span in spans.items():
        step = span // form.factor << (32 if form.shifted else 0)
        if span % form.factor or found.setdefault(
                form.induction, step) != step:
            return None
    halves = {reg: induction for reg, induction in halves.items()
              if induction in found}
    return (found, halves) if found else None


def _note_access(inst: syntax.Inst, forms: dict[str, Form],
                 spans: dict[Form, int]) -> None:
    access = modifiers.read(inst)
    text = inst.args[0 if inst.opcode.startswith('st') else 1]
    base, offset = writer.split_address(text)
    form = forms.get(base)
    if form is not None:
        span = offset + access.type.size * access.lanes
        spans[form] = max(span, spans.get(form, 0))


def _form(inst: syntax.Inst, loop: laneloops.LaneLoop,
          forms: dict[str, Form]) -> Form | None:
    """Returns the form of an instruction's result, if it has one."""
    if inst.pred or len(inst.args) < 2:
        return None
    form = forms.get(inst.args[1])
    opcode = inst.opcode
    if _ADD.fullmatch(opcode):
        for a, b in (inst.args[1:], inst.args[:0:-1]):
            if a in forms and b not in forms and _is_uniform(b, loop):
                return forms[a]
        return None
    if form is None:
        return None
    number = (values.constant_bits(inst.args[2], values.U64)
              if len(inst.args) > 2 else None)
    if opcode == 'shr.s64' and number == 32 and form.factor == 1:
        return None if form.shifted else form._replace(shifted=True)
    if opcode == 'shl.b64' and number is not None and number < 8:
        return form._replace(factor=form.factor << number)
    if _WIDE.fullmatch(opcode) and number and number < 256:
        if len(inst.args) == 3 or _is_uniform(inst.args[3], loop):
            return form._replace(factor=form.factor * number)
    if _CONVERT.fullmatch(opcode):
        return form
    return None


def _is_uniform(text: str, loop: laneloops.LaneLoop) -> bool:
    return text in loop.uniform or values.constant_bits(
        text, values.U64) is not None
