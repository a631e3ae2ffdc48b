"""Finds loops that are better run for all lanes of a warp at a time.

A loop in which threads of a block walk through an array together, each at
its own offset, reads memory far apart from one iteration of a thread to its
next.  Run thread by thread it would go through the array 32 times.

Such a loop gets a stop before it, where the lanes of a warp gather, and a
place behind the end of an iteration where they go apart again; see
:mod:`forward` for what happens between.
"""
from __future__ import annotations

import re
from typing import NamedTuple

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import grouping
from cupy_backends.host.ptx import instinfo
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import uniform

_LOAD = re.compile(r'ld\.(?:global\.|shared\.|const\.)?')
_ADD = re.compile(r'add\.[su](?:32|64)')
# What LLVM cannot vectorise, or what must not be looked at together.
_EXCLUDED = re.compile(r'(?:call|atom|red|(?:ld|st)\.(?:volatile|relaxed|'
                       r'acquire|release|local|param))')
_MOST_INSTRUCTIONS = 120


class LaneLoop(NamedTuple):
    """A loop to be run for all lanes.

    Attributes:
        graph (Graph): One iteration, from ``'ret'`` of which the decision
            is left out.
        latch (str): Its last block.
        decision (Term): The branch at its end.
        header (str): Its first block.
        again (bool): Whether it goes on when the predicate holds.
        inductions (dict): Step of registers that each iteration increases
            by the same in all lanes.
        uniform (set of str): Registers that are the same in all lanes.
        after (str): Block that takes the decision, lane by lane.
    """

    graph: cfg.Graph
    latch: str
    decision: cfg.Term
    header: str
    again: bool
    inductions: dict[str, str]
    uniform: frozenset[str]
    after: str

    @property
    def predicate(self) -> str:
        assert self.decision.inst is not None
        return self.decision.inst.pred


def insert_stops(graph: cfg.Graph, body: syntax.Body,
                 params: frozenset[str]) -> dict[str, LaneLoop]:
    """Puts a stop before each loop found.

    Args:
        graph (Graph): Control flow graph; it is changed.
        body (Body): For the registers.
        params (set of str): Kernel parameters.

    Returns:
        dict: The loop that follows each of the new stops.
    """
    finder = _Finder(graph, body, params)
    found = {}
    for number, (header, latch, labels) in enumerate(finder.loops()):
        loop = finder.describe(header, latch, labels, f'after~{number}')
        if loop is not None:
            stop = _insert(graph, loop, labels, number)
            found[stop] = loop
    return found


def _insert(graph: cfg.Graph, loop: LaneLoop, labels: set[str],
            number: int) -> str:
    gather, start = f'gather~{number}', f'loop~{number}'
    for label, block in graph.blocks.items():
        if label not in labels and loop.header in block.term.targets:
            block.term = block.term._replace(targets=tuple(
                gather if t == loop.header else t
                for t in block.term.targets))
    first = graph.blocks[loop.header]
    pos = first.insts[0].pos if first.insts else 0
    stop = graph.blocks[gather] = cfg.Block(gather)
    # An activemask without a result: nobody is waited for.
    stop.term = cfg.Term('stop', (start,), syntax.Inst(
        'activemask.b32', ('_',), '', False, pos))
    graph.blocks[start] = cfg.Block(start)
    graph.blocks[start].term = cfg.Term(
        'either', (loop.after, loop.header))
    graph.blocks[loop.after] = cfg.Block(loop.after)
    graph.blocks[loop.after].term = loop.decision
    return gather


class _Finder:
    def __init__(self, graph: cfg.Graph, body: syntax.Body,
                 params: frozenset[str]) -> None:
        self.graph = graph
        self.body = body
        self.order = graph.order(graph.entry)
        self.place = {label: n for n, label in enumerate(self.order)}
        self.before: dict[str, list[str]] = {}
        for label in self.order:
            for target in graph.successors(label):
                self.before.setdefault(target, []).append(label)
        same = uniform.registers(graph, body, params)
        self.uniform = frozenset(same)
        self.grid = uniform.follow(graph, same, '%nctaid')

    def loops(self) -> list[tuple[str, str, set[str]]]:
        """Returns header, latch and blocks of the innermost loops."""
        found = []
        for latch in self.order:
            for header in self.graph.successors(latch):
                if self.place[header] <= self.place[latch]:
                    labels = self._natural(header, latch)
                    if labels is not None:
                        found.append((header, latch, labels))
        return found

    def _natural(self, header: str, latch: str) -> set[str] | None:
        """Returns the blocks of a loop entered at its header only, which
        has no loop inside and is left at its latch only."""
        labels, left = {header}, [latch]
        while left:
            label = left.pop()
            if label not in labels:
                labels.add(label)
                left += self.before.get(label, [])
        if self.graph.entry in labels:
            return None
        for label in labels:
            for target in self.graph.successors(label):
                if label == latch:
                    continue
                if (target not in labels or target == header
                        or self.place[target] <= self.place[label]):
                    return None
            if self.graph.blocks[label].term.kind not in ('bra', 'if'):
                return None
        if self.graph.blocks[latch].term.kind != 'if':
            return None
        return labels

    def describe(self, header: str, latch: str, labels: set[str],
                 after: str) -> LaneLoop | None:
        """Returns the loop if it is worth it."""
        blocks = [self.graph.blocks[label] for label in self.order
                  if label in labels]
        insts = [inst for block in blocks for inst in block.insts]
        if len(insts) > _MOST_INSTRUCTIONS or any(
                _EXCLUDED.match(i.opcode) or self._reads_thread(i)
                for i in insts):
            return None
        if not any(_LOAD.match(i.opcode) for i in insts):
            return None
        if grouping.may_reorder(insts):
            return None
        inductions = self._inductions(blocks, latch)
        steps = {step for step in inductions.values()
                 if step in self.body.regs}
        # Without such a step each thread has its own piece of memory; with
        # one of the grid's size there are few iterations for a thread.
        if not steps or steps & self.grid:
            return None
        decision = self.graph.blocks[latch].term
        assert decision.inst is not None
        again = (decision.targets[0] == header) != decision.inst.negated
        return LaneLoop(self._iteration(header, latch, labels), latch,
                        decision, header, again, inductions, self.uniform,
                        after)

    def _reads_thread(self, inst: syntax.Inst) -> bool:
        return any(arg[0] == '%' and arg not in self.body.regs
                   for arg in inst.args)

    def _inductions(self, blocks: list[cfg.Block],
                    latch: str) -> dict[str, str]:
        counts: dict[str, int] = {}
        for block in blocks:
            for effect in block.effects:
                for reg in effect.defs:
                    counts[reg] = counts.get(reg, 0) + 1
        found = {}
        last = self.graph.blocks[latch]
        for inst in last.insts:
            if not _ADD.fullmatch(inst.opcode) or inst.pred:
                continue
            reg, a, b = inst.args
            step = b if a == reg else a if b == reg else ''
            uniform_step = step in self.uniform or (
                step and step not in self.body.regs)
            if counts[reg] == 1 and uniform_step:
                found[reg] = step
        return found

    def _iteration(self, header: str, latch: str,
                   labels: set[str]) -> cfg.Graph:
        graph = cfg.Graph()
        graph.entry = header
        for label in self.order:
            if label in labels:
                graph.blocks[label] = self.graph.blocks[label]
        last = cfg.Block(latch)
        last.insts = self.graph.blocks[latch].insts
        last.effects = self.graph.blocks[latch].effects
        graph.blocks[latch] = last
        return graph


def results(loop: LaneLoop, body: syntax.Body,
            live: liveness.Liveness) -> list[str]:
    """Returns the registers that an iteration leaves behind."""
    changed = {reg for block in loop.graph.blocks.values()
               for effect in block.effects for reg in effect.defs}
    return [reg for reg in live.live_in(loop.after) if reg in changed]


def used(loop: LaneLoop) -> set[str]:
    """Returns the registers that an iteration reads."""
    return {reg for block in loop.graph.blocks.values()
            for effect in block.effects for reg in effect.uses
            if reg != instinfo.CARRY}
