"""Finds out under which condition a grid-stride loop walks through arrays
element by element.

CuPy's kernels get strides as parameters, in bytes.  If each array's stride
is the size of what is accessed, addresses grow by a constant; only such
loops can be vectorised.
"""
from __future__ import annotations

from typing import NamedTuple

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import gridloop
from cupy_backends.host.ptx import grouping
from cupy_backends.host.ptx import modifiers
from cupy_backends.host.ptx import polynomial
from cupy_backends.host.ptx import rare
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import uniform
from cupy_backends.host.ptx import writer

_INDEX = '%i'
# Longer bodies would not gain enough for the time that LLVM takes.
_MOST_INSTRUCTIONS = 400


class Version(NamedTuple):
    """A version of a loop for contiguous arrays.

    Attributes:
        graph (Graph): The body without what cannot be vectorised.
        strides (dict): What each stride must be, by symbol; in bytes.
        direct (dict): Registers that are ``factor * i + offset`` if that
            fits into 32 bits as a signed number.
        widest (int): The greatest factor of these.
    """

    graph: cfg.Graph
    strides: dict[str, int]
    direct: dict[str, gridloop.Linear]
    widest: int

    @property
    def bails(self) -> bool:
        """Whether there is more to the body than ``graph``."""
        return any(block.term.kind == rare.BAIL
                   for block in self.graph.blocks.values())


def find(loop: gridloop.GridLoop, body: syntax.Body) -> Version | None:
    """Returns the version if there is one that can be vectorised."""
    graph = rare.without_rare(loop.graph)
    if graph is None or len(graph.instructions()) > _MOST_INSTRUCTIONS:
        return None
    try:
        return _Finder(loop, graph, body).find()
    except (_NotContiguous, writer.Reject):
        return None


class _NotContiguous(Exception):
    pass


class _Finder:
    def __init__(self, loop: gridloop.GridLoop, graph: cfg.Graph,
                 body: syntax.Body) -> None:
        self.loop = loop
        self.graph = graph
        self.evaluator = uniform.Evaluator(body)
        self.evaluator.known.update(loop.evaluator.known)
        self.evaluator.uniform.update(loop.evaluator.uniform)
        for reg, linear in loop.linear.items():
            self.evaluator.known[reg] = (
                linear.factor * polynomial.symbol(_INDEX) + linear.offset)
        self.adjacent = False
        self.strides: dict[str, int] = {}
        self.narrowed: dict[str, polynomial.Polynomial] = {}

    def find(self) -> Version:
        blocks = [self.graph.blocks[label]
                  for label in self.graph.order(self.graph.entry)]
        for block in blocks:
            for inst, effect in zip(block.insts, block.effects):
                if inst.opcode.startswith(('ld', 'st.')):
                    self._access(inst)
                self.evaluator.run(inst, effect.defs, effect.uses)
                self._narrow(inst)
        if not self.adjacent or grouping.may_reorder(
                inst for block in blocks for inst in block.insts):
            raise _NotContiguous
        direct = {reg: self._linear(value)
                  for reg, value in self.narrowed.items()}
        widest = max((linear.factor.terms[()] for linear in direct.values()),
                     default=0)
        return Version(self.graph, self.strides, direct, widest)

    def _narrow(self, inst: syntax.Inst) -> None:
        """Evaluates what keeps the lower 32 bits of an offset."""
        if inst.opcode == 'shr.s64' and inst.args[2] == '32':
            value = self.evaluator.value(inst.args[1])
            value = value.halved(32) if value is not None else None
        elif inst.opcode == 'cvt.s64.s32':
            value = self.evaluator.value(inst.args[1])
        else:
            return
        if value is not None and _INDEX in value.symbols():
            self.evaluator.known[inst.args[0]] = value
            self.narrowed[inst.args[0]] = value

    def _access(self, inst: syntax.Inst) -> None:
        """Notes the stride with which an instruction accesses memory."""
        access = modifiers.read(inst)
        address = inst.args[0 if inst.opcode.startswith('st') else 1]
        base, offset = writer.split_address(address)
        if base in self.evaluator.uniform or access.space == 'param':
            return
        value = self.evaluator.value(base)
        factor = value.coefficient(_INDEX) if value is not None else None
        if factor is None:
            # Anywhere, such as in a table.
            return
        if not factor.symbols():
            self.adjacent = True
            return
        if list(factor.terms.values()) != [1] or len(factor.symbols()) > 1:
            return
        self.adjacent = True
        stride, = factor.symbols()
        span = offset + access.type.size * access.lanes
        self.strides[stride] = max(span, self.strides.get(stride, 0))

    def _linear(self, value: polynomial.Polynomial) -> gridloop.Linear:
        """Returns a narrowed value with the strides put in."""
        factor = value.coefficient(_INDEX)
        if factor is None:
            raise _NotContiguous
        offset = value - factor * polynomial.symbol(_INDEX)
        factor = substitute(factor, self.strides)
        # Only what starts at zero can be checked by its end alone.
        if factor.symbols() or offset.terms or factor.terms[()] >> 31:
            raise _NotContiguous
        return gridloop.Linear(factor, offset)


def substitute(value: polynomial.Polynomial,
               numbers: dict[str, int]) -> polynomial.Polynomial:
    """Returns the polynomial with numbers in place of some symbols."""
    total = polynomial.constant(0)
    for monomial, factor in value.terms.items():
        term = polynomial.constant(factor)
        for name in monomial:
            term = term * (polynomial.constant(numbers[name])
                           if name in numbers else polynomial.symbol(name))
        total = total + term
    return total
