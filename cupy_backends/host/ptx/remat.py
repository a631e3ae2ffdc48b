"""Finds registers that are cheaper to compute again than to keep.

Such a register has one definition, which only combines constants, kernel
parameters, special registers and others of its kind.  Its value may then be
computed where a thread starts or resumes, and is there for all blocks.
"""
from __future__ import annotations

import re

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import instinfo
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import syntax

# Integer operations of about a cycle; nothing that can trap.
_CHEAP = re.compile(
    r'(?:mov|cvta(?:\.to)?|add|sub|mul|mad|shl|shr|and|or|xor|not|neg|cvt)'
    r'(?:\.(?:lo|wide|global|const|local|shared|param|pred'
    r'|[bsu](?:16|32|64)))+')
_PARAM = re.compile(r'ld\.param\.[bsuf]\d+')
# Registers that differ from one reading to the next.
_UNSTABLE = ('%clock', '%globaltimer', '%pm', '%activemask')
_MOST_COST = 16


def find(graph: cfg.Graph, body: syntax.Body,
         params: frozenset[str]) -> dict[str, syntax.Inst]:
    """Returns the definitions to repeat, by register, in a valid order.

    Args:
        graph (Graph): Control flow graph.
        body (Body): For the registers' types.
        params (set of str): Kernel parameters, which never change.
    """
    counts = liveness.definition_counts(graph, body)
    found: dict[str, syntax.Inst] = {}
    costs: dict[str, int] = {}
    for label in graph.order(graph.entry):
        block = graph.blocks[label]
        for inst, effect in zip(block.insts, block.effects):
            if len(effect.defs) != 1 or counts[effect.defs[0]] != 1:
                continue
            if not _is_cheap(inst, params):
                continue
            if all(use in found for use in effect.uses):
                cost = 1 + sum(costs[use] for use in effect.uses)
                if cost <= _MOST_COST:
                    found[effect.defs[0]] = inst
                    costs[effect.defs[0]] = cost
    return found


def _is_cheap(inst: syntax.Inst, params: frozenset[str]) -> bool:
    if inst.pred or inst.args[0][0] == '{':
        return False
    if is_parameter_load(inst, params):
        return True
    if not _CHEAP.fullmatch(inst.opcode):
        return False
    return not any(arg.startswith(_UNSTABLE) for arg in inst.args)


def is_parameter_load(inst: syntax.Inst, params: frozenset[str]) -> bool:
    """Returns whether an instruction loads a kernel parameter.

    The parameters of calls are read by the same opcode.
    """
    if not _PARAM.fullmatch(inst.opcode):
        return False
    return re.split(r'[\[\]+]', inst.args[1])[1] in params


def without(found: dict[str, syntax.Inst], unwanted: set[str],
            body: syntax.Body) -> dict[str, syntax.Inst]:
    """Returns the definitions that do not depend on some registers."""
    kept: dict[str, syntax.Inst] = {}
    for name, inst in found.items():
        uses = instinfo.effects(inst, body).uses
        if name not in unwanted and all(use in kept for use in uses):
            kept[name] = inst
    return kept


def needed(found: dict[str, syntax.Inst], roots: set[str],
           body: syntax.Body) -> list[syntax.Inst]:
    """Returns the definitions that ``roots`` need, in a valid order.

    Args:
        found (dict): As :func:`find` returns it.
        roots (set of str): Registers that are read.
    """
    wanted = set(roots)
    chosen = []
    for name in reversed(found):
        if name in wanted:
            inst = found[name]
            chosen.append(inst)
            wanted.update(instinfo.effects(inst, body).uses)
    return chosen[::-1]
