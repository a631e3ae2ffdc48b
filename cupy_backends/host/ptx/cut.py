"""A kernel cut at its stops: what its phases share."""
from __future__ import annotations

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import frame as frame_
from cupy_backends.host.ptx import laneloops
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import remat
from cupy_backends.host.ptx import stops
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import values


class Cut:
    """A kernel cut at its stops: what its phases share.

    Attributes:
        numbers (dict): Number of each stop by the block it ends.
        specs (dict): What each stop asks for, by the same.
        fixed (dict): Registers that are computed anew in each phase.
        kept (dict): Registers that live where a stop resumes.
        frame (Frame): Layout of a warp's frame.
    """

    def __init__(self, shared: program.Program, body: syntax.Body,
                 graph: cfg.Graph, stop_labels: list[str],
                 loops: dict[str, laneloops.LaneLoop]) -> None:
        self.shared = shared
        self.body = body
        self.graph = graph
        self.numbers = {label: n for n, label in enumerate(stop_labels)}
        self.fixed = remat.find(graph, body, frozenset(shared.params))
        for loop in loops.values():
            # These differ from lane to lane: loads do better than a
            # computation for each.
            self.fixed = remat.without(
                self.fixed, laneloops.used(loop) - loop.uniform, body)
        self.specs = {label: self._spec(label) for label in stop_labels}
        self.live = liveness.Liveness(graph, body, self.fixed)
        self.kept = {
            label: self.live.live_in(graph.blocks[label].term.targets[0])
            for label in stop_labels}
        self.frame = frame_.build(body, list(self.kept.values()),
                                  frozenset(shared.params))

    def _spec(self, label: str) -> stops.Spec:
        inst = self.graph.blocks[label].term.inst
        assert inst is not None
        spec = stops.spec(inst)
        return spec._replace(
            a=self._constant(spec.a), b=self._constant(spec.b),
            c=self._constant(spec.c), mask=self._constant(spec.mask))

    def _constant(self, text: str) -> str:
        """Returns the constant that a register always holds, if it does."""
        inst = self.fixed.get(text)
        if inst is not None and inst.opcode.startswith('mov.'):
            kind = self.body.regs[text]
            if values.constant_bits(inst.args[1], kind) is not None:
                return inst.args[1]
        return text

    def describe(self, label: str) -> tuple[int, ...]:
        """Returns the fields of ``hd_stop`` of a stop."""
        spec = self.specs[label]
        inst = self.graph.blocks[label].term.inst
        assert inst is not None
        kept = self.kept[label]
        dests = [self.frame.slots[reg] if reg in kept else -1
                 for reg in (spec.dst, spec.dst2)]
        sources, imm = [], 0
        for number, (text, kind, slot) in enumerate(operands(spec)):
            constant = immediate_bits(text, kind)
            if constant is not None:
                imm |= 1 << number
            sources.append(
                constant if constant is not None
                else self.frame.scratch[slot] if text else -1)
        line = self.shared.table.line(inst.pos)
        return (spec.kind, spec.op, *dests, *sources, imm, line)


def operands(spec: stops.Spec) -> list[tuple[str, str, str]]:
    """Returns text, PTX type and scratch slot of operands a, b, c, mask."""
    return [(spec.a, spec.a_type, 'a'), (spec.b, 'b32', 'b'),
            (spec.c, spec.c_type, 'c'), (spec.mask, 'b32', 'mask')]


def immediate_bits(text: str, kind: str) -> int | None:
    """Returns a constant operand as the signed number of an ``hd_stop``."""
    bits = values.constant_bits(text, dtypes.TYPES[kind]) if text else None
    if bits is None or bits >> 32:
        return None
    return bits - (1 << 32) if bits >> 31 else bits
