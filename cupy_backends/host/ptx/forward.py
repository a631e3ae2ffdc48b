"""Runs a loop for all lanes of a warp at a time (:mod:`laneloops`).

The code stands at the start of a phase, before the loop over lanes, and
serves full warps.  It executes iterations, each for all lanes, as long as
all lanes go on; then each lane takes its own decision in the ordinary code.
Registers lie in the frame; in the version for adjacent accesses, those that
the loop increases are numbers of the first lane only.
"""
from __future__ import annotations

from cupy_backends.host.ptx import blocks
from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import frame as frame_
from cupy_backends.host.ptx import laneforms
from cupy_backends.host.ptx import laneloops
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import reciprocal
from cupy_backends.host.ptx import remat
from cupy_backends.host.ptx import slots
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer

_LANES = 32

_CHECK = '''  %full = icmp eq i32 %mask, -1
  br i1 %full, label %forward, label %lanes
forward:'''

_HEAD = '''  br label %{v}.head
{v}.head:
  %{v}.lane = phi i64 [ 0, %{v}.loop ], [ %{v}.n, %{v}.next ]'''

_NEXT = '''{v}.next:
  %{v}.n = add nuw nsw i64 %{v}.lane, 1
  %{v}.more = icmp ult i64 %{v}.n, 32
  br i1 %{v}.more, label %{v}.head, label %{v}.decide{loop}
{v}.decide:'''

_LANES_PHI = '''lanes:
  %forwarded = phi i1 [ false, %entry ], [ true, %any.done ]{fast}'''


def write(w: writer.Writer, loop: laneloops.LaneLoop,
          frame: frame_.Frame, fixed: dict[str, syntax.Inst],
          live: liveness.Liveness) -> str:
    """Returns the lines up to the label ``lanes``.

    Args:
        w (Writer): The phase's function; its ``lines`` are free.
        loop (LaneLoop): The loop.
        frame (Frame): Layout of the warp's frame.
        fixed (dict): Registers to be computed anew (:mod:`remat`).
        live (Liveness): Registers that are needed at each block.
    """
    return _Forward(w, loop, frame, fixed, live).write()


class _Forward:
    def __init__(self, w: writer.Writer, loop: laneloops.LaneLoop,
                 frame: frame_.Frame, fixed: dict[str, syntax.Inst],
                 live: liveness.Liveness) -> None:
        self.w = w
        self.loop = loop
        self.frame = frame
        self.fixed = fixed
        self.results = laneloops.results(loop, w.body, live)
        self.used = laneloops.used(loop)
        self.forms = laneforms.strides(loop)

    def write(self) -> str:
        w = self.w
        w.lines.append(_CHECK)
        w.start_version()
        w.fixed, w.divisors = {}, {}
        self._uniform()
        if self.forms is None:
            w.stmt('br label %any.loop')
        else:
            self._enter_fast(*self.forms)
            self._fast(*self.forms)
        self._any()
        fast = ', [ true, %fast.done ]' if self.forms else ''
        w.lines.append(_LANES_PHI.format(fast=fast))
        return '\n'.join(w.lines)

    # ---- values that all lanes share ----------------------------------------

    def _uniform(self) -> None:
        """Makes registers that are the same in all lanes plain values."""
        w = self.w
        wanted = {reg for reg in {*self.used, *self.loop.inductions.values()}
                  if reg in self.loop.uniform}
        for inst in remat.needed(self.fixed, wanted, w.body):
            w.emit(inst)
            w.fixed[inst.args[0]] = w.read(inst.args[0])
        for reg in sorted(wanted - w.fixed.keys()):
            if reg in self.frame.slots:
                w.fixed[reg] = self._slot(reg, '0')
        for label in self.loop.graph.order(self.loop.header):
            for inst in self.loop.graph.blocks[label].insts:
                reg = inst.args[0]
                if reg in self.loop.uniform and reg not in w.fixed:
                    w.emit(inst)
                    w.fixed[reg] = w.read(reg)
        reciprocal.prepare(w, self.loop.graph.instructions())

    def _slot(self, reg: str, lane: str) -> str:
        return slots.load(self.w, self.frame.slots[reg],
                          self.w.llvm_type(reg), lane)

    # ---- one iteration ------------------------------------------------------

    def _iteration(self, version: str, inductions: dict[str, str],
                   kept: set[str]) -> None:
        """Writes one iteration for all lanes.

        Args:
            version (str): Prefix of names.
            inductions (dict): Values of registers at its start that are
                not in the frame.
            kept (set of str): Results that need not be stored.
        """
        w, graph = self.w, self.loop.graph
        stored = [reg for reg in self.results if reg not in kept]
        lane = f'%{version}.lane'

        def leave(term: cfg.Term) -> str:
            for reg in stored:
                slots.store(w, self.frame.slots[reg], w.llvm_type(reg), lane,
                            w.read(reg))
            return f'br label %{version}.next'

        def initial(reg: str) -> str | None:
            if reg in inductions:
                return inductions[reg]
            if reg in self.frame.slots:
                return self._slot(reg, lane)
            return None
        w.access = program.PARALLEL
        out = blocks.BlockWriter(w, graph, graph.order(graph.entry), {},
                                 leave, f'{version}.b')
        out.start(initial, {self.loop.latch: stored})
        out.write()
        w.access = ''
        w.start_version()
        w.lines.append(_NEXT.format(
            v=version, loop=w.program.loop_metadata('parallel')))

    def _all_go_on(self) -> str:
        """Returns whether the decision is the same, to go on, in all."""
        w = self.w
        slot = w.gep('%frame', str(self.frame.slots[self.loop.predicate]))
        byte = '1' if self.loop.again else '0'
        flags = w.inst(f'load <{_LANES} x i8>, ptr {slot}, align 16')
        same = w.inst(f'icmp eq <{_LANES} x i8> {flags}, '
                      f'splat (i8 {byte})')
        return w.call('i1', f'llvm.vector.reduce.and.v{_LANES}i1',
                      [(f'<{_LANES} x i1>', same)])

    # ---- any addresses ------------------------------------------------------

    def _any(self) -> None:
        w = self.w
        w.start('any.loop')
        w.lines.append(_HEAD.format(v='any'))
        self._iteration('any', {}, set())
        w.stmt(f'br i1 {self._all_go_on()}, label %any.loop, '
               'label %any.done')
        w.start('any.done')
        w.stmt('br label %lanes')

    # ---- adjacent addresses -------------------------------------------------

    def _enter_fast(self, steps: dict[str, int],
                    halves: dict[str, str]) -> None:
        """Checks that the lanes differ as expected; loads the first's."""
        w, good = self.w, 'true'
        self.first: dict[str, str] = {}
        self.lane_step: dict[str, str] = {}
        for reg in self.loop.inductions:
            llvm = w.llvm_type(reg)
            first = self.first[reg] = self._slot(reg, '0')
            step = str(steps[reg]) if reg in steps else w.inst(
                f'sub {llvm} {self._slot(reg, "1")}, {first}')
            self.lane_step[reg] = step
            slot = w.gep('%frame', str(self.frame.slots[reg]))
            found = w.inst(f'load <{_LANES} x {llvm}>, ptr {slot}, align 16')
            wanted = self._all_lanes(llvm, first, step)
            same = w.inst(f'icmp eq <{_LANES} x {llvm}> {found}, {wanted}')
            same = w.call('i1', f'llvm.vector.reduce.and.v{_LANES}i1',
                          [(f'<{_LANES} x i1>', same)])
            good = w.inst(f'and i1 {good}, {same}')
            if reg in steps:
                fits = self._fits(reg, first, steps)
                good = w.inst(f'and i1 {good}, {fits}')
        w.stmt(f'br i1 {good}, label %fast.enter, label %any.loop')

    def _all_lanes(self, llvm: str, first: str, step: str) -> str:
        """Returns the vector ``first + lane * step``."""
        w, vector = self.w, f'<{_LANES} x {llvm}>'
        lanes = ', '.join(f'{llvm} {n}' for n in range(_LANES))
        values = []
        for scalar in (first, step):
            one = w.inst(f'insertelement {vector} poison, {llvm} {scalar}, '
                         'i64 0')
            values.append(w.inst(f'shufflevector {vector} {one}, {vector} '
                                 f'poison, <{_LANES} x i32> '
                                 'zeroinitializer'))
        steps = w.inst(f'mul {vector} {values[1]}, <{lanes}>')
        return w.inst(f'add {vector} {values[0]}, {steps}')

    def _fits(self, reg: str, value: str, steps: dict[str, int]) -> str:
        """Returns whether no lane's value wraps around."""
        w, llvm = self.w, self.w.llvm_type(reg)
        pair = w.call(f'{{ {llvm}, i1 }}',
                      f'llvm.sadd.with.overflow.{llvm}',
                      [(llvm, value), (llvm, str(steps[reg] * 31))])
        wraps = w.inst(f'extractvalue {{ {llvm}, i1 }} {pair}, 1')
        positive = w.inst(f'icmp sge {llvm} {value}, 0')
        fits = w.inst(f'xor i1 {wraps}, true')
        return w.inst(f'and i1 {fits}, {positive}')

    def _fast(self, steps: dict[str, int], halves: dict[str, str]) -> None:
        w = self.w
        w.start('fast.enter')
        w.stmt('br label %fast.loop')
        w.start('fast.loop')
        now = {reg: w.name('first') for reg in self.loop.inductions}
        after = {reg: w.name('first') for reg in self.loop.inductions}
        for reg, name in now.items():
            w.stmt(f'{name} = phi {w.llvm_type(reg)} [ {self.first[reg]}, '
                   f'%fast.enter ], [ {after[reg]}, %fast.decide ]')
        high = {reg: w.inst(f'ashr i64 {now[source]}, 32')
                for reg, source in halves.items()}
        pointers = {reg: w.inst(f'inttoptr i64 {now[reg]} to ptr')
                    for reg in steps if w.llvm_type(reg) == 'i64'}
        w.lines.append(_HEAD.format(v='fast'))
        kept = dict(w.fixed)
        inductions = self._lane_values(now, steps, halves, high, pointers)
        self._iteration('fast', inductions, set(now))
        w.fixed = kept
        self._decide_fast(now, after, steps)

    def _lane_values(self, now: dict[str, str], steps: dict[str, int],
                     halves: dict[str, str], high: dict[str, str],
                     pointers: dict[str, str]) -> dict[str, str]:
        """Emits what the lane's registers are at an iteration's start."""
        w, found = self.w, {}
        for reg, first in now.items():
            llvm = w.llvm_type(reg)
            lane = w.cast('trunc', '%fast.lane', 'i64', llvm)
            offset = w.inst(f'mul {llvm} {lane}, {self.lane_step[reg]}')
            flags = 'nuw nsw ' if reg in steps else ''
            found[reg] = w.inst(f'add {flags}{llvm} {first}, {offset}')
            if reg in pointers:
                w.set_pointer(found[reg], pointers[reg], offset)
        for reg, source in halves.items():
            offset = w.inst(f'mul i64 %fast.lane, {steps[source] >> 32}')
            w.fixed[reg] = w.inst(f'add nsw i64 {high[reg]}, {offset}')
        return found

    def _decide_fast(self, now: dict[str, str], after: dict[str, str],
                     steps: dict[str, int]) -> None:
        w, good = self.w, self._all_go_on()
        for reg, name in after.items():
            llvm = w.llvm_type(reg)
            step = w.source(self.loop.inductions[reg],
                            dtypes.TYPES[f'u{llvm[1:]}'])
            w.stmt(f'{name} = add {llvm} {now[reg]}, {step}')
            if reg in steps:
                fits = self._fits(reg, name, steps)
                good = w.inst(f'and i1 {good}, {fits}')
        w.stmt(f'br i1 {good}, label %fast.loop, label %fast.done')
        w.start('fast.done')
        for reg, name in after.items():
            llvm = w.llvm_type(reg)
            slot = w.gep('%frame', str(self.frame.slots[reg]))
            whole = self._all_lanes(llvm, name, self.lane_step[reg])
            w.stmt(f'store <{_LANES} x {llvm}> {whole}, ptr {slot}, '
                   'align 16')
        w.stmt('br label %lanes')
