"""Writes a kernel in which threads wait for each other.

The kernel is cut at its stops (:mod:`stops`).  Each place where threads
start or resume becomes a function, a phase, which runs the lanes of a mask
one after the other until each of them stops or returns.  What a thread
needs after a stop is kept in the frame of its warp meanwhile.
"""
from __future__ import annotations

from typing import NamedTuple

from cupy_backends.host.ptx import blocks
from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import forward
from cupy_backends.host.ptx import frame as frame_
from cupy_backends.host.ptx import laneloops
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import remat
from cupy_backends.host.ptx import slots
from cupy_backends.host.ptx import stops
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import values
from cupy_backends.host.ptx import writer

_EXITED = '-1'

_HEAD = '''define void @{name}(ptr noalias %launch, ptr noalias %block, \
ptr noalias %frame, i32 %warp, i32 %mask) #0 {{
entry:'''

_START = '''  br label %lanes
lanes:
  %forwarded = phi i1 [ false, %entry ]'''

_LANES = '''  %first.lane = call i32 @llvm.cttz.i32(i32 %mask, i1 false)
  %less = add i32 %mask, -1
  %first.left = and i32 %mask, %less
  %warp.start = shl i32 %warp, 5
  %rows = mul i32 {ntid_y}, {ntid_z}
  %flat = icmp eq i32 %rows, 1
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %done, label %lane.head
lane.head:
  %lane = phi i32 [ %first.lane, %lanes ], [ %lane.n, %lane.next ]
  %left = phi i32 [ %first.left, %lanes ], [ %left.n, %lane.next ]
  %lane.wide = zext nneg i32 %lane to i64
  %linear = or disjoint i32 %warp.start, %lane
  br i1 %flat, label %thread, label %fold
fold:
  %fold.x = urem i32 %linear, {ntid_x}
  %fold.rest = udiv i32 %linear, {ntid_x}
  %fold.y = urem i32 %fold.rest, {ntid_y}
  %fold.z = udiv i32 %fold.rest, {ntid_y}
  br label %thread
thread:
  %tid.x = phi i32 [ %linear, %lane.head ], [ %fold.x, %fold ]
  %tid.y = phi i32 [ 0, %lane.head ], [ %fold.y, %fold ]
  %tid.z = phi i32 [ 0, %lane.head ], [ %fold.z, %fold ]
  %next.word = getelementptr i32, ptr %frame, i64 %lane.wide'''

_NEXT = '''lane.next:
  %lane.n = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %left.less = add i32 %left, -1
  %left.n = and i32 %left, %left.less
  %last = icmp eq i32 %left, 0
  br i1 %last, label %done, label %lane.head
done:
  ret void
}'''


class Result(NamedTuple):
    """What the scheduler must know; see :class:`~.compile.Kernel`."""

    functions: tuple[str, ...]
    stops: tuple[tuple[int, ...], ...]
    frame_bytes: int
    vectorise: bool


def write(shared: program.Program, body: syntax.Body, graph: cfg.Graph,
          loops: dict[str, laneloops.LaneLoop]) -> tuple[list[str], Result]:
    """Writes all phases of a kernel.

    Args:
        shared (Program): State of the translation.
        body (Body): The kernel's body.
        graph (Graph): Its control flow graph.
        loops (dict): Loops to run for all lanes, by the stop before.

    Returns:
        tuple: Texts of the LLVM functions, and a :class:`Result`.
    """
    stop_labels = [label for label, block in graph.blocks.items()
                   if block.term.kind == 'stop']
    cut = _Cut(shared, body, graph, stop_labels, loops)
    starts = [graph.entry]
    starts += [graph.blocks[label].term.targets[0] for label in stop_labels]
    names = tuple(f'hd_phase_{n}' for n in range(len(starts)))
    before: list[laneloops.LaneLoop | None] = [None]
    before += [loops.get(label) for label in stop_labels]
    texts = [_Phase(cut, name, start, loop).write()
             for name, start, loop in zip(names, starts, before)]
    shared.declares['llvm.cttz.i32'] = 'declare i32 @llvm.cttz.i32(i32, i1)'
    table = tuple(cut.describe(label) for label in stop_labels)
    return texts, Result(names, table, cut.frame.size, bool(loops))


class _Cut:
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


class _Phase:
    """Writes the function for one place where threads start or resume."""

    def __init__(self, cut: _Cut, name: str, start: str,
                 loop: laneloops.LaneLoop | None) -> None:
        self.cut = cut
        self.loop = loop
        self.name = name
        self.start = start
        self.labels = cut.graph.order(start, across_stops=False)
        self.w = writer.Writer(cut.shared, cut.shared.kernel, cut.body)
        self._stop_label = ''

    def write(self) -> str:
        w, cut = self.w, self.cut
        sizes = self._environment()
        self._variables()
        out = blocks.BlockWriter(w, cut.graph, self.labels, cut.fixed,
                                 self._leave)
        live = set(cut.live.live_in(self.start))
        changed = self._changed()
        self.saves = {
            label: [reg for reg in cut.kept[label] if reg in changed
                    and reg not in self._results(label)]
            for label in self.labels if label in cut.numbers}
        out.start(lambda reg: self._initial(reg, live), self.saves)
        out.write()
        lines, w.lines = w.lines, []
        start = self._forward() or _START
        return '\n'.join([
            _HEAD.format(name=self.name), *w.allocas, *w.prologue, start,
            _LANES.format(**sizes), *lines, _NEXT])

    def _forward(self) -> str:
        """Returns the lines that run a loop for all lanes, if there is."""
        if self.loop is None:
            return ''
        return forward.write(self.w, self.loop, self.cut.graph,
                             self.cut.frame, self.cut.fixed, self.cut.live)

    def _environment(self) -> dict[str, str]:
        w = self.w
        sizes = {}
        for number, axis in enumerate('xyz'):
            w.env[f'tid.{axis}'] = f'%tid.{axis}'
            at = program.BLOCK_CTAID + 4 * number
            pointer = w.once(f'&ctaid.{axis}', 'getelementptr i8, '
                             f'ptr %block, i64 {at}')
            w.env[f'ctaid.{axis}'] = w.once(
                f'ctaid.{axis}', f'load i32, ptr {pointer}, '
                '!invariant.load !0')
            sizes[f'ntid_{axis}'] = w.launch_field(
                program.LAUNCH_BLOCK + 4 * number, 'i32')
        w.env['linear'] = '%linear'
        w.env['lane'] = '%lane'
        return sizes

    def _variables(self) -> None:
        """Points local variables to the lane's part of the frame."""
        w, frame = self.w, self.cut.frame
        if not frame.locals:
            return
        own = w.inst(f'mul i64 %lane.wide, {frame.local_stride}')
        own = w.inst(f'add i64 {own}, {frame.local_start}')
        base = w.gep('%frame', own)
        for name, offset in frame.locals.items():
            w.variables[name] = w.gep(base, str(offset))

    def _changed(self) -> set[str]:
        """Returns the registers that this phase writes."""
        found: set[str] = set()
        for label in self.labels:
            for effect in self.cut.graph.blocks[label].effects:
                found.update(effect.defs)
        return found

    def _results(self, label: str) -> tuple[str, ...]:
        term = self.cut.graph.blocks[label].term
        return liveness.term_defs(term, self.cut.body)

    def _initial(self, reg: str, live: set[str]) -> str | None:
        """Returns what a register holds when a thread comes here."""
        if reg not in live:
            return None
        if self.start == self.cut.graph.entry:
            return 'zeroinitializer'
        return self._load(reg)

    def _load(self, reg: str) -> str:
        return slots.load(self.w, self.cut.frame.slots[reg],
                          self.w.llvm_type(reg), '%lane.wide')

    def _store(self, offset: int, llvm: str, value: str) -> None:
        slots.store(self.w, offset, llvm, '%lane.wide', value)

    def _leave(self, term: cfg.Term) -> str:
        """Ends a lane: at a stop, or for good."""
        next_stop = _EXITED
        if term.kind == 'stop':
            label = self._label_of(term)
            self._store_operands(self.cut.specs[label], term)
            for reg in self.saves[label]:
                self._store(self.cut.frame.slots[reg],
                            self.w.llvm_type(reg), self.w.read(reg))
            next_stop = str(self.cut.numbers[label])
        elif term.kind == 'trap':
            blocks.write_trap(self.w, term)
        self.w.stmt(f'store i32 {next_stop}, ptr %next.word')
        return 'br label %lane.next'

    def _label_of(self, term: cfg.Term) -> str:
        # A resume point belongs to one stop, so it identifies the stop.
        return next(label for label in self.saves
                    if self.cut.graph.blocks[label].term is term)

    def _store_operands(self, spec: stops.Spec, term: cfg.Term) -> None:
        assert term.inst is not None
        try:
            for text, type_name, slot in operands(spec):
                if text and immediate_bits(text, type_name) is None:
                    kind = dtypes.TYPES[type_name]
                    self._store(self.cut.frame.scratch[slot], kind.llvm,
                                self.w.source(text, kind))
        except writer.Reject as error:
            raise self.w.unsupported(term.inst, str(error)) from None
