"""Which registers hold a value that is still needed, block by block.

Sets of registers are Python integers, one bit per register: the usual
backward data-flow iteration is then a few operations per block.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import instinfo
from cupy_backends.host.ptx import syntax


class Liveness:
    """Live registers at the start of every block.

    Args:
        graph (Graph): Control flow graph, stops as edges to their resume
            points.
        body (Body): For the registers' names.
        ignore (set of str): Registers that need no storage, because they
            are computed anew wherever they are used.
    """

    def __init__(self, graph: cfg.Graph, body: syntax.Body,
                 ignore: Iterable[str] = ()) -> None:
        self._body = body
        self._ignore = frozenset(ignore)
        self._names: list[str] = []
        self._bits: dict[str, int] = {}
        self._live = self._solve(graph)

    def live_in(self, label: str) -> list[str]:
        """Returns the registers needed at the start of a block."""
        return self._unpack(self._live[label])

    def _unpack(self, bits: int) -> list[str]:
        found = []
        while bits:
            low = bits & -bits
            found.append(self._names[low.bit_length() - 1])
            bits ^= low
        return found

    def _bit(self, name: str) -> int:
        bit = self._bits.get(name)
        if bit is None:
            bit = 0
            if name not in self._ignore:
                bit = 1 << len(self._names)
                self._names.append(name)
            self._bits[name] = bit
        return bit

    def _summary(self, block: cfg.Block) -> tuple[int, int, int]:
        """Returns what a block uses first, what it defines, and what its
        end defines on the way to the successors."""
        used = defined = 0
        for effect in block.effects:
            for name in effect.uses:
                used |= self._bit(name) & ~defined
            for name in effect.defs:
                defined |= self._bit(name)
        late = 0
        for name in term_uses(block.term, self._body):
            used |= self._bit(name) & ~defined
        for name in term_defs(block.term, self._body):
            late |= self._bit(name)
        return used, defined, late

    def _solve(self, graph: cfg.Graph) -> dict[str, int]:
        order = graph.order(graph.entry)[::-1]
        facts = {label: self._summary(graph.blocks[label])
                 for label in order}
        live = dict.fromkeys(order, 0)
        changed = True
        while changed:
            changed = False
            for label in order:
                used, defined, late = facts[label]
                out = 0
                for target in graph.successors(label):
                    out |= live[target]
                new = used | (out & ~late & ~defined)
                if new != live[label]:
                    live[label] = new
                    changed = True
        return live


def term_uses(term: cfg.Term, body: syntax.Body) -> tuple[str, ...]:
    """Returns the registers that the end of a block reads."""
    if term.inst is None:
        return ()
    if term.kind == 'if':
        return (term.inst.pred,)
    if term.kind in ('stop', 'brx'):
        return instinfo.effects(term.inst, body).uses
    return ()


def term_defs(term: cfg.Term, body: syntax.Body) -> tuple[str, ...]:
    """Returns the registers that a stop writes before it resumes."""
    if term.kind != 'stop' or term.inst is None:
        return ()
    return instinfo.effects(term.inst, body).defs


def definition_counts(graph: cfg.Graph,
                      body: syntax.Body) -> dict[str, int]:
    """Returns how many instructions write each register."""
    counts: dict[str, int] = {}
    for block in graph.blocks.values():
        late = term_defs(block.term, body)
        for names in (*(effect.defs for effect in block.effects), late):
            for name in names:
                counts[name] = counts.get(name, 0) + 1
    return counts


def crossing(graph: cfg.Graph, labels: list[str], body: syntax.Body,
             ignore: Iterable[str],
             at_end: Mapping[str, Iterable[str]]) -> set[str]:
    """Returns the registers that need memory between blocks.

    These are read in a block in which their value does not come from the
    block itself or from the chain of sole predecessors above it.

    Args:
        graph (Graph): Control flow graph.
        labels (list of str): The blocks of one LLVM function, each sole
            predecessor before its successor.
        body (Body): For the registers' names.
        ignore (set of str): Registers that are available everywhere.
        at_end (dict): Further registers read at the end of a block.
    """
    parents = sole_predecessors(graph, labels)
    everywhere = frozenset(ignore)
    available: dict[str, set[str]] = {}
    found: set[str] = set()
    for label in labels:
        block = graph.blocks[label]
        known = set(available.get(parents.get(label, ''), ()))
        for effect in block.effects:
            found.update(u for u in effect.uses if u not in known)
            known.update(effect.defs)
        found.update(u for u in term_uses(block.term, body)
                     if u not in known)
        found.update(u for u in at_end.get(label, ()) if u not in known)
        available[label] = known
    return found - everywhere


def sole_predecessors(graph: cfg.Graph,
                      labels: list[str]) -> dict[str, str]:
    """Returns the predecessor of each block that has just one.

    The first block, where the function is entered, has none.
    """
    inside = set(labels)
    sources: dict[str, list[str]] = {}
    for label in labels:
        if graph.blocks[label].term.kind == 'stop':
            continue
        for target in set(graph.successors(label)):
            sources.setdefault(target, []).append(label)
    return {target: found[0] for target, found in sources.items()
            if len(found) == 1 and target in inside
            and target != labels[0] and found[0] != target}
