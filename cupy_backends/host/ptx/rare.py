"""Splits the body of a loop into what can be vectorised and what cannot.

Mathematical functions have a slow path for rare arguments, with a loop or
a call inside.  Without it, most bodies are plain arithmetic.
"""
from __future__ import annotations

import re

from cupy_backends.host.ptx import cfg

#: Kind of the terminator that stands for the way into the rest.
BAIL = 'bail'

_BAIL_LABEL = 'bail~'
_EXCLUDED = re.compile(
    r'call|atom|red|(?:ld|st)\.(?:volatile|relaxed|acquire|release|local|'
    r'param)')
_MOST_BLOCKS = 100


def without_rare(graph: cfg.Graph) -> cfg.Graph | None:
    """Returns the graph without loops and what LLVM cannot vectorise.

    Ways into what was left out end with :data:`BAIL`.

    Args:
        graph (Graph): One iteration, which ends with ``'ret'``.

    Returns:
        Graph: None if no way through the body is left.
    """
    if len(graph.blocks) > _MOST_BLOCKS:
        return None
    excluded = {label for label, block in graph.blocks.items()
                if _is_excluded(block) or _is_in_loop(graph, label)}
    if graph.entry in excluded:
        return None
    if not excluded:
        return graph
    pruned = _prune(graph, excluded)
    ends = {block.term.kind for block in pruned.blocks.values()}
    return pruned if 'ret' in ends else None


def _is_excluded(block: cfg.Block) -> bool:
    return block.term.kind not in ('bra', 'if', 'ret') or any(
        _EXCLUDED.match(inst.opcode) for inst in block.insts)


def _is_in_loop(graph: cfg.Graph, label: str) -> bool:
    return any(label in graph.order(target)
               for target in graph.successors(label))


def _prune(graph: cfg.Graph, excluded: set[str]) -> cfg.Graph:
    pruned = cfg.Graph()
    pruned.entry = graph.entry
    for label, block in graph.blocks.items():
        if label in excluded:
            continue
        copy = pruned.blocks[label] = cfg.Block(label)
        copy.insts, copy.effects = block.insts, block.effects
        copy.term = block.term._replace(targets=tuple(
            _BAIL_LABEL if t in excluded else t for t in block.term.targets))
    pruned.blocks[_BAIL_LABEL] = cfg.Block(_BAIL_LABEL)
    pruned.blocks[_BAIL_LABEL].term = cfg.Term(BAIL)
    reachable = pruned.order(pruned.entry)
    pruned.blocks = {label: pruned.blocks[label] for label in reachable}
    return pruned


def without_bails(graph: cfg.Graph) -> cfg.Graph:
    """Returns the graph for iterations that are known not to bail out.

    (Marking those ways as unreachable would leave assumptions behind, which
    keep LLVM from vectorising.)
    """
    lost = {label for label, block in graph.blocks.items()
            if block.term.kind == BAIL}
    while True:
        more = {label for label, block in graph.blocks.items()
                if label not in lost and block.term.targets
                and lost.issuperset(block.term.targets)}
        if not more:
            break
        lost |= more
    sure = cfg.Graph()
    sure.entry = graph.entry
    for label, block in graph.blocks.items():
        if label not in lost:
            copy = sure.blocks[label] = cfg.Block(label)
            copy.insts, copy.effects = block.insts, block.effects
            left = tuple(t for t in block.term.targets if t not in lost)
            copy.term = (block.term if left == block.term.targets
                         else cfg.Term('bra', left))
    return sure


def without_stores(graph: cfg.Graph) -> cfg.Graph:
    """Returns a graph that has no effect but the way it takes."""
    silent = cfg.Graph()
    silent.entry = graph.entry
    for label, block in graph.blocks.items():
        copy = silent.blocks[label] = cfg.Block(label)
        copy.term = block.term
        for inst, effect in zip(block.insts, block.effects):
            if not inst.opcode.startswith('st.'):
                copy.insts.append(inst)
                copy.effects.append(effect)
    return silent
