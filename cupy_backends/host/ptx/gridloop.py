"""Recognises grid-stride loops.

Kernels over arrays usually are ::

    for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += blockDim.x * gridDim.x)
        body(i);

where the compiler has replaced products with ``i`` by further variables
that grow along.  Threads do not wait for each other, so the iterations of
all of them may be run in another order: for each lap, one plain loop over
``i``.  LLVM vectorises that, and it needs no division of the work into
threads.
"""
from __future__ import annotations

from typing import NamedTuple

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import instinfo
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import polynomial
from cupy_backends.host.ptx import remat
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import uniform

_FIRST = (polynomial.symbol(uniform.CTAID) * polynomial.symbol(uniform.NTID)
          + polynomial.symbol(uniform.TID))
_STEP = polynomial.symbol(uniform.NTID) * polynomial.symbol(uniform.NCTAID)


class Linear(NamedTuple):
    """A register that holds ``factor * i + offset``."""

    factor: polynomial.Polynomial
    offset: polynomial.Polynomial


class GridLoop(NamedTuple):
    """A kernel that consists of a grid-stride loop.

    Attributes:
        graph (Graph): The loop's body, from its start to the end of one
            iteration (``'ret'``).
        setup (list of Inst): What precedes the loop and is the same in all
            threads.
        bound (str): Operand that ``i`` stays below, as a signed number.
        linear (dict): Registers that depend on ``i`` where an iteration
            starts, ``i`` itself included.
        evaluator (Evaluator): What is known before the loop.
    """

    graph: cfg.Graph
    setup: list[syntax.Inst]
    bound: str
    linear: dict[str, Linear]
    evaluator: uniform.Evaluator


class Fork(NamedTuple):
    """A kernel that is one of two loops, the same one for all threads.

    The compiler makes two of a loop around a condition that does not change.

    Attributes:
        setup (list of Inst): What precedes the decision.
        decision (Inst): The branch.
        sides (tuple): Loops if it is taken, and if not.
    """

    setup: list[syntax.Inst]
    decision: syntax.Inst
    sides: tuple[GridLoop | Fork, GridLoop | Fork]


_MOST_FORKS = 2


def find(graph: cfg.Graph, body: syntax.Body, params: frozenset[str],
         forks: int = _MOST_FORKS) -> GridLoop | Fork | None:
    """Returns the loop if the kernel is one, else None.

    Args:
        graph (Graph): Control flow graph.
        body (Body): For the registers.
        params (set of str): Kernel parameters.
        forks (int): How many decisions there may be one after the other.
    """
    finder = _Finder(graph, body, params)
    try:
        return finder.find()
    except _ForkFound as found:
        if not forks:
            return None
        taken, other = (
            find(_decided(graph, found.label, target), body, params,
                 forks - 1) for target in found.targets)
        if taken is None or other is None:
            return None
        return Fork(finder.evaluator.setup, found.decision, (taken, other))
    except _NoLoop:
        return None


def _decided(graph: cfg.Graph, label: str, target: str) -> cfg.Graph:
    """Returns the graph in which a branch always goes to one target."""
    decided = cfg.Graph()
    decided.blocks = dict(graph.blocks)
    block = decided.blocks[label] = cfg.Block(label)
    block.insts = graph.blocks[label].insts
    block.effects = graph.blocks[label].effects
    block.term = cfg.Term('bra', (target,))
    decided.blocks = {label: decided.blocks[label]
                      for label in decided.order(decided.entry)}
    return decided


class _NoLoop(Exception):
    """The kernel does not have the form looked for."""


class _ForkFound(Exception):
    """There is a branch before the loop."""

    def __init__(self, label: str, targets: tuple[str, ...],
                 decision: syntax.Inst) -> None:
        self.label = label
        self.targets = targets
        self.decision = decision


def _require(condition: object) -> None:
    if not condition:
        raise _NoLoop


class _Finder:
    def __init__(self, graph: cfg.Graph, body: syntax.Body,
                 params: frozenset[str]) -> None:
        self.graph = graph
        self.params = params
        self.body = body
        self.evaluator = uniform.Evaluator(body)
        self.order = graph.order(graph.entry)

    def find(self) -> GridLoop:
        chain, header = self._chain()
        labels = self._loop_labels(header)
        latch = self._latch(header, labels)
        for label in chain:
            self._evaluate(self.graph.blocks[label])
        self._hoist(labels)
        index, bound = self._continues(latch, header)
        self._check_entry(chain[0], bound)
        linear = self._inductions(header, labels, latch)
        _require(linear.get(index) == Linear(
            polynomial.constant(1), polynomial.constant(0)))
        self._check_inputs(header, latch, linear)
        return GridLoop(self._one_iteration(header, labels, latch, linear),
                        self.evaluator.setup, bound, linear, self.evaluator)

    def _predecessors(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {label: [] for label in self.order}
        for label in self.order:
            for target in self.graph.successors(label):
                found[target].append(label)
        return found

    def _returns(self, label: str) -> bool:
        """Returns whether nothing happens any more from here on."""
        block = self.graph.blocks[label]
        for _ in self.order:
            if block.insts:
                return False
            if block.term.kind in ('ret', 'exit'):
                return True
            if block.term.kind != 'bra':
                return False
            block = self.graph.blocks[block.term.targets[0]]
        return False

    def _chain(self) -> tuple[list[str], str]:
        """Returns the blocks before the loop, and its first block."""
        before = self._predecessors()
        label, chain = self.graph.entry, [self.graph.entry]
        term = self.graph.blocks[label].term
        _require(term.kind == 'if')
        inner = [t for t in term.targets if not self._returns(t)]
        _require(len(inner) == 1)
        label = inner[0]
        while len(before[label]) == 1:
            chain.append(label)
            term = self.graph.blocks[label].term
            if term.kind == 'if':
                self._fork(chain, term)
            _require(term.kind == 'bra')
            label = term.targets[0]
        return chain, label

    def _fork(self, chain: list[str], term: cfg.Term) -> None:
        """Raises what tells of a decision that is the same for all."""
        for label in chain:
            self._evaluate(self.graph.blocks[label])
        assert term.inst is not None
        if term.inst.pred in self.evaluator.uniform:
            raise _ForkFound(chain[-1], term.targets, term.inst)

    def _loop_labels(self, header: str) -> list[str]:
        return [label for label in self.graph.order(header)
                if not self._returns(label)]

    def _latch(self, header: str, labels: list[str]) -> str:
        """Returns the block that jumps back; only it may leave the loop."""
        found = ''
        for label in labels:
            _require(self.graph.blocks[label].term.kind != 'stop')
            targets = self.graph.successors(label)
            leaves = (not targets or any(self._returns(t) for t in targets))
            if header in targets:
                _require(leaves and not found)
                found = label
            else:
                _require(not leaves)
        _require(found and self.graph.blocks[found].term.kind == 'if')
        return found

    def _evaluate(self, block: cfg.Block) -> None:
        for inst, effect in zip(block.insts, block.effects):
            _require(not inst.pred)
            # A symbol stands for a register's only value.
            _require(not any(reg in self.evaluator.known
                             for reg in effect.defs))
            _require(self._may_move(inst))
            self.evaluator.run(inst, effect.defs, effect.uses)

    def _may_move(self, inst: syntax.Inst) -> bool:
        """Returns whether it may be executed once, before everything."""
        return (remat.is_parameter_load(inst, self.params)
                or instinfo.is_pure(inst)
                or inst.opcode.startswith(('ld.const.', 'cvta.')))

    def _hoist(self, labels: list[str]) -> None:
        """Evaluates what the loop computes from uniform values only.

        The compiler may leave the step there, for want of registers.
        """
        counts = liveness.definition_counts(self.graph, self.body)
        for label in labels:
            block = self.graph.blocks[label]
            for inst, effect in zip(block.insts, block.effects):
                if (len(effect.defs) == 1 and counts[effect.defs[0]] == 1
                        and self._may_move(inst) and not inst.pred
                        and self.evaluator.is_uniform(inst, effect.uses)):
                    self.evaluator.run(inst, effect.defs, effect.uses)

    def _comparison(self, label: str, target: str) -> tuple[str, str]:
        """Returns operands (a, b) such that a branch is taken if a < b."""
        block = self.graph.blocks[label]
        term = block.term
        assert term.inst is not None
        defs = [inst for inst, effect in zip(block.insts, block.effects)
                if term.inst.pred in effect.defs]
        _require(len(defs) == 1 and not defs[0].pred)
        taken = term.targets[0] == target
        below = taken != term.inst.negated
        expected = 'setp.lt.s64' if below else 'setp.ge.s64'
        _require(defs[0].opcode == expected)
        return defs[0].args[1], defs[0].args[2]

    def _continues(self, latch: str, header: str) -> tuple[str, str]:
        """Returns the index register and the bound of the loop."""
        return self._comparison(latch, header)

    def _check_entry(self, entry: str, bound: str) -> None:
        """Requires that the loop is entered if the first index is below."""
        inner = next(t for t in self.graph.successors(entry)
                     if not self._returns(t))
        first, limit = self._comparison(entry, inner)
        value, known = self.evaluator.value(bound), self.evaluator.known
        _require(value is not None and uniform.is_uniform(value))
        _require(self.evaluator.value(limit) == value)
        _require(known.get(first) == _FIRST)

    def _inductions(self, header: str, labels: list[str],
                    latch: str) -> dict[str, Linear]:
        """Returns the registers that each iteration increases."""
        changed = {reg for label in labels
                   for effect in self.graph.blocks[label].effects
                   for reg in effect.defs} - self.evaluator.uniform
        live = liveness.Liveness(self.graph, self.body).live_in(header)
        return {reg: self._induction(reg, labels, latch, changed)
                for reg in live if reg in changed}

    def _induction(self, reg: str, labels: list[str], latch: str,
                   changed: set[str]) -> Linear:
        places = [(label, number) for label in labels
                  for number, effect in enumerate(
                      self.graph.blocks[label].effects)
                  if reg in effect.defs]
        _require(len(places) == 1 and places[0][0] == latch)
        block, number = self.graph.blocks[latch], places[0][1]
        inst = block.insts[number]
        _require(inst.opcode in ('add.s64', 'add.u64') and not inst.pred)
        operands = list(inst.args[1:])
        _require(reg in operands)
        operands.remove(reg)
        _require(operands[0] not in changed)
        self._check_later_uses(block, number, reg)
        return self._linear(reg, operands[0])

    def _check_later_uses(self, block: cfg.Block, number: int,
                          reg: str) -> None:
        """Requires that the increased value only decides the branch."""
        for effect in block.effects[number + 1:]:
            if reg in effect.uses:
                assert block.term.inst is not None
                _require(effect.defs == (block.term.inst.pred,))

    def _linear(self, reg: str, step: str) -> Linear:
        start = self.evaluator.value(reg)
        increment = self.evaluator.value(step)
        _require(start is not None and increment is not None)
        assert start is not None
        factor = start.coefficient(uniform.TID)
        _require(factor is not None and uniform.is_uniform(factor))
        assert factor is not None
        offset = start - factor * _FIRST
        _require(uniform.is_uniform(offset))
        _require(increment == factor * _STEP)
        return Linear(factor, offset)

    def _check_inputs(self, header: str, latch: str,
                      linear: dict[str, Linear]) -> None:
        block = self.graph.blocks[latch]
        assert block.term.inst is not None
        _require(not any(block.term.inst.pred in effect.uses
                         for effect in block.effects))
        live = liveness.Liveness(self.graph, self.body).live_in(header)
        _require(all(reg in linear or reg in self.evaluator.uniform
                     for reg in live))

    def _one_iteration(self, header: str, labels: list[str], latch: str,
                       linear: dict[str, Linear]) -> cfg.Graph:
        """Returns the graph of the body, without its own loop control."""
        graph = cfg.Graph()
        graph.entry = header
        decision = self.graph.blocks[latch].term.inst
        assert decision is not None
        control = {*linear, decision.pred}
        for label in labels:
            old, new = self.graph.blocks[label], cfg.Block(label)
            dropped = self.evaluator.uniform | (
                control if label == latch else set())
            for inst, effect in zip(old.insts, old.effects):
                if not dropped.intersection(effect.defs):
                    new.insts.append(inst)
                    new.effects.append(effect)
            if label != latch:
                new.term = old.term
            graph.blocks[label] = new
        return graph
