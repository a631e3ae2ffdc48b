"""Writes the function for one place where threads start or resume.

It loops over the lanes of a mask.
"""
from __future__ import annotations

from cupy_backends.host.ptx import blocks
from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import cut as cut_
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import forward
from cupy_backends.host.ptx import laneloops
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import slots
from cupy_backends.host.ptx import stops
from cupy_backends.host.ptx import writer

_EXITED = '-1'
_LANE = '%lane'

# The library runs at most 1024 threads per block.
_HEAD = '''define void @{name}(ptr noalias %launch, ptr noalias %block, \
ptr noalias %frame, i32 range(i32 0, 32) %warp, i32 %mask) #0 {{
entry:'''

_LANES = '''  %warp.start = shl nuw nsw i32 %warp, 5
  %rows = mul i32 {ntid_y}, {ntid_z}
  %flat = icmp eq i32 %rows, 1
  %first.lane = call i32 @llvm.cttz.i32(i32 %mask, i1 false)
  %less = add i32 %mask, -1
  %first.left = and i32 %mask, %less
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %done, label %lane.head
lane.head:
  %lane.32 = phi i32 [ %first.lane, %lanes ], [ %lane.n, %lane.next ]
  %left = phi i32 [ %first.left, %lanes ], [ %left.n, %lane.next ]
  %lane = zext nneg i32 %lane.32 to i64
  %linear = or disjoint i32 %warp.start, %lane.32
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
  %tid.z = phi i32 [ 0, %lane.head ], [ %fold.z, %fold ]'''

_NEXT = '''lane.next:
  %lane.n = call i32 @llvm.cttz.i32(i32 %left, i1 false)
  %left.less = add i32 %left, -1
  %left.n = and i32 %left, %left.less
  %last = icmp eq i32 %left, 0
  br i1 %last, label %done, label %lane.head
done:
  ret void
}'''

_START = '''  br label %lanes
lanes:
  %forwarded = phi i1 [ false, %entry ]'''


def write(cut: cut_.Cut, name: str, start: str,
          loop: laneloops.LaneLoop | None) -> str:
    """Returns the text of a phase's function.

    Args:
        cut (Cut): The kernel.
        name (str): Name of the function.
        start (str): Block where the threads start or resume.
        loop (LaneLoop): The loop that starts there, to be run for all lanes
            at a time.
    """
    return _Phase(cut, name, start, loop).write()


class _Phase:
    def __init__(self, cut: cut_.Cut, name: str, start: str,
                 loop: laneloops.LaneLoop | None) -> None:
        self.cut = cut
        self.loop = loop
        self.name = name
        self.start = start
        self.labels = cut.graph.order(start, across_stops=False)
        self.live = set(cut.live.live_in(start))
        self.w = writer.Writer(cut.shared, cut.shared.kernel, cut.body)
        self.saves = self._saves()
        self.sizes = self._environment()

    def write(self) -> str:
        w, cut = self.w, self.cut
        self._variables()
        out = blocks.BlockWriter(w, cut.graph, self.labels, cut.fixed,
                                 self._leave)
        out.start(self._initial, self.saves)
        out.write()
        lines, w.lines = w.lines, []
        start = _START
        if self.loop is not None:
            start = forward.write(w, self.loop, cut.frame, cut.fixed,
                                  cut.live)
        return '\n'.join([
            _HEAD.format(name=self.name), *w.allocas, *w.prologue, start,
            _LANES.format(**self.sizes), *lines, _NEXT])

    def _saves(self) -> dict[str, list[str]]:
        """Returns the registers to be stored at each stop: those that have
        changed since the thread was here."""
        changed = {reg for label in self.labels
                   for effect in self.cut.graph.blocks[label].effects
                   for reg in effect.defs}
        return {
            label: [reg for reg in self.cut.kept[label] if reg in changed
                    and reg not in self._results(label)]
            for label in self.labels if label in self.cut.numbers}

    def _environment(self) -> dict[str, str]:
        w = self.w
        sizes = {}
        w.env.update({'linear': '%linear', 'lane': '%lane.32'})
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
        return sizes

    def _variables(self) -> None:
        """Points local variables to the lane's part of the frame."""
        w, frame = self.w, self.cut.frame
        if not frame.locals:
            return
        own = w.inst(f'mul i64 {_LANE}, {frame.local_stride}')
        own = w.inst(f'add i64 {own}, {frame.local_start}')
        base = w.gep('%frame', own)
        for name, offset in frame.locals.items():
            w.variables[name] = w.gep(base, str(offset))

    def _results(self, label: str) -> tuple[str, ...]:
        term = self.cut.graph.blocks[label].term
        return liveness.term_defs(term, self.cut.body)

    def _initial(self, reg: str) -> str | None:
        """Returns what a register holds when a thread comes here."""
        if reg not in self.live:
            return None
        if self.start == self.cut.graph.entry:
            return 'zeroinitializer'
        return slots.load(self.w, self.cut.frame.slots[reg],
                          self.w.llvm_type(reg), _LANE)

    def _store(self, offset: int, llvm: str, value: str) -> None:
        slots.store(self.w, offset, llvm, _LANE, value)

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
        self._store(0, 'i32', next_stop)
        return 'br label %lane.next'

    def _label_of(self, term: cfg.Term) -> str:
        return next(label for label in self.saves
                    if self.cut.graph.blocks[label].term is term)

    def _store_operands(self, spec: stops.Spec, term: cfg.Term) -> None:
        assert term.inst is not None
        try:
            for text, type_name, slot in cut_.operands(spec):
                if text and cut_.immediate_bits(text, type_name) is None:
                    kind = dtypes.TYPES[type_name]
                    self._store(self.cut.frame.scratch[slot], kind.llvm,
                                self.w.source(text, kind))
        except writer.Reject as error:
            raise self.w.unsupported(term.inst, str(error)) from None
