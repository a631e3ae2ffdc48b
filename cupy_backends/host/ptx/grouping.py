"""Tells where LLVM might reorder the accesses of one iteration.

A loop over threads is vectorised on the promise that its iterations do not
depend on each other.  LLVM then also groups accesses of one iteration that
are next to each other, such as the parts of a complex number: loads move up
to the first of the group, stores down to the last.  Where an iteration loads
after it has stored, the load might be of what was stored.
"""
from __future__ import annotations

from collections.abc import Iterable
import re

from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer

_ACCESS = re.compile(r'(ld|st)\.(?!param|const)(?:\w+\.)*?(v[24]\.)?\w+')


def may_reorder(insts: Iterable[syntax.Inst]) -> bool:
    """Returns whether an access might move past one that it depends on.

    Args:
        insts: Instructions of an iteration, in their order.
    """
    stored = loads_after = groups = False
    offsets: dict[str, int] = {}
    for inst in insts:
        match = _ACCESS.fullmatch(inst.opcode)
        if match is None:
            continue
        store = match[1] == 'st'
        base, offset = writer.split_address(inst.args[0 if store else 1])
        groups |= bool(match[2]) or (
            offsets.setdefault(base, offset) != offset)
        loads_after |= stored and not store
        stored |= store
    return loads_after and groups
