"""Writes a grid-stride loop (:mod:`gridloop`) as plain loops.

For blocks ``[first, end)`` of a row of the grid and each lap of the loop,
one loop runs over consecutive ``i``.  There may be two versions of it: one
in which arrays are contiguous, which LLVM vectorises, and one for any
strides; which runs is decided once per call.
"""
from __future__ import annotations

from cupy_backends.host.ptx import blocks
from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import contiguous
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import gridloop
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import polynomial
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import reciprocal
from cupy_backends.host.ptx import straight
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer

_HEAD = f'''define void @{straight.NAME}(ptr noalias %launch, \
ptr noalias %block, i64 %first, i64 %end) #0 {{
entry:'''

# Blocks are numbered with x fastest.  A row is a run of blocks of the same
# y and z; threads that differ in y or z of the block repeat it.
_LOOPS = '''  %ctaid.ptr = getelementptr i8, ptr %block, i64 {ctaid}
  %ctaid.ptr.y = getelementptr i8, ptr %ctaid.ptr, i64 4
  %ctaid.ptr.z = getelementptr i8, ptr %ctaid.ptr, i64 8
  %nx = zext i32 {ntid_x} to i64
  %gx = zext i32 {nctaid_x} to i64
  %step = mul i64 %nx, %gx
  %repeats = mul i32 {ntid_y}, {ntid_z}
  %any = icmp ult i64 %first, %end
  br i1 %any, label %row.head, label %done
row.head:
  %row.first = phi i64 [ %first, %entry ], [ %row.end, %row.next ]
  %row = udiv i64 %row.first, %gx
  %row.start = mul i64 %row, %gx
  %row.after = add i64 %row.start, %gx
  %row.over = icmp ult i64 %row.after, %end
  %row.end = select i1 %row.over, i64 %row.after, i64 %end
  %x.first = sub i64 %row.first, %row.start
  %x.end = sub i64 %row.end, %row.start
  %row.number = trunc i64 %row to i32
  %ctaid.y = urem i32 %row.number, {nctaid_y}
  %ctaid.z = udiv i32 %row.number, {nctaid_y}
  store i32 %ctaid.y, ptr %ctaid.ptr.y
  store i32 %ctaid.z, ptr %ctaid.ptr.z
  %low = mul i64 %x.first, %nx
  %high = mul i64 %x.end, %nx
  br label %repeat.head
repeat.head:
  %repeat = phi i32 [ 0, %row.head ], [ %repeat.n, %repeat.next ]
  %tid.y = urem i32 %repeat, {ntid_y}
  %tid.z = udiv i32 %repeat, {ntid_y}
  br label %lap.head
lap.head:
  %shift = phi i64 [ 0, %repeat.head ], [ %shift.n, %lap.next ]
  %lap.first = add i64 %low, %shift
  %lap.end = add i64 %high, %shift
  %lap.short = icmp slt i64 {bound}, %lap.end
  %lap.last = select i1 %lap.short, i64 {bound}, i64 %lap.end
  %lap.any = icmp slt i64 %lap.first, %lap.last
  br i1 %lap.any, label %lap, label %repeat.next
lap:'''

_VERSION = '''{v}.head:
  %{v}.i = phi i64 [ %lap.first, %lap ], [ %{v}.n, %{v}.next ]'''

_VERSION_END = '''{v}.next:
  %{v}.n = add nuw nsw i64 %{v}.i, 1
  %{v}.more = icmp slt i64 %{v}.n, %lap.last
  br i1 %{v}.more, label %{v}.head, label %lap.next{loop}'''

_END = '''lap.next:
  %shift.n = add i64 %shift, %step
  br label %lap.head
repeat.next:
  %repeat.n = add i32 %repeat, 1
  %repeat.more = icmp ult i32 %repeat.n, %repeats
  br i1 %repeat.more, label %repeat.head, label %row.next
row.next:
  %row.more = icmp ult i64 %row.end, %end
  br i1 %row.more, label %row.head, label %done
done:
  ret void
}'''

_S64 = dtypes.TYPES['s64']
_U64 = dtypes.TYPES['u64']


def write(shared: program.Program, body: syntax.Body,
          loop: gridloop.GridLoop) -> tuple[str, bool]:
    """Returns the text of the kernel's LLVM function, and whether it has a
    version that can be vectorised.

    Args:
        shared (Program): State of the translation.
        body (Body): The kernel's body.
        loop (GridLoop): What it consists of.
    """
    kernel = _FlatKernel(shared, body, loop)
    return kernel.write(), kernel.version is not None


class _FlatKernel:
    def __init__(self, shared: program.Program, body: syntax.Body,
                 loop: gridloop.GridLoop) -> None:
        self.loop = loop
        self.w = writer.Writer(shared, shared.kernel, body)
        self.sizes = straight.load_sizes(self.w)
        self.version = contiguous.find(loop, body)
        self.live = set(liveness.Liveness(loop.graph, body, loop.linear)
                        .live_in(loop.graph.entry))

    def write(self) -> str:
        w = self.w
        locals_ = straight.add_locals(w)
        self._setup()
        bound = w.source(self.loop.bound, _S64)
        guard = self._guard(bound)
        setup, w.lines = w.lines, []
        w.stmt(f'br i1 {guard}, label %fast.head, label %any.head')
        self._write_version('any', locals_, 'scalar' if self.version else '')
        if self.version:
            self._write_version('fast', locals_, 'parallel')
        head = _LOOPS.format(bound=bound, ctaid=program.BLOCK_CTAID,
                             **self.sizes)
        if not self.version:
            w.lines[0] = '  br label %any.head'
        return '\n'.join([_HEAD, *w.allocas, *w.prologue, *setup, head,
                          *w.lines, _END])

    def _setup(self) -> None:
        """Emits what is the same in all threads, once."""
        for inst in self.loop.setup:
            self.w.emit(inst)
        for reg in self.loop.evaluator.uniform:
            self.w.fixed[reg] = self.w.read(reg)
        reciprocal.prepare(self.w, self.loop.graph.instructions())

    def _guard(self, bound: str) -> str:
        """Emits the condition for the version for contiguous arrays."""
        if self.version is None:
            return 'false'
        w, guard = self.w, 'true'
        for symbol, size in self.version.strides.items():
            fits = w.inst(f'icmp eq i64 {self._symbol(symbol)}, {size}')
            guard = w.inst(f'and i1 {guard}, {fits}')
        if self.version.widest:
            most = (1 << 31) // self.version.widest
            fits = w.inst(f'icmp sle i64 {bound}, {most}')
            guard = w.inst(f'and i1 {guard}, {fits}')
        return guard

    def _symbol(self, name: str) -> str:
        """Returns the value of a symbol of a polynomial, an ``i64``."""
        return self.w.source(self.loop.evaluator.registers[name], _U64)

    def _write_version(self, name: str, locals_: str, kind: str) -> None:
        w, graph = self.w, self.loop.graph
        fast = name == 'fast'
        w.start_version()
        w.lines.append(_VERSION.format(v=name) + locals_)
        self._environment(name)
        kept = dict(w.fixed)
        w.fixed.update(self._linear_values(f'%{name}.i', fast))
        w.access = program.PARALLEL if fast else ''
        out = blocks.BlockWriter(
            w, graph, graph.order(graph.entry), {},
            lambda term: self._leave(name, term), f'{name}.b')
        out.start(lambda reg: 'zeroinitializer' if reg in self.live
                  else None, {})
        out.write()
        w.lines.append(_VERSION_END.format(
            v=name, loop=w.program.loop_metadata(kind)))
        w.fixed = kept

    def _environment(self, name: str) -> None:
        """Recovers the indices of the thread that an iteration is of."""
        w = self.w
        number = w.inst(f'sub i64 %{name}.i, %shift')
        for register, op in (('tid.x', 'urem'), ('ctaid.x', 'udiv')):
            index = w.inst(f'{op} i64 {number}, %nx')
            w.env[register] = w.inst(f'trunc i64 {index} to i32')
        for register in ('tid.y', 'tid.z', 'ctaid.y', 'ctaid.z'):
            w.env[register] = f'%{register}'

    def _linear_values(self, index: str, fast: bool) -> dict[str, str]:
        """Emits the registers that depend on the index only."""
        strides, found = {}, dict(self.loop.linear)
        if fast:
            assert self.version is not None
            strides = self.version.strides
            found.update(self.version.direct)
        return {reg: self._linear(linear, index, strides)
                for reg, linear in found.items()}

    def _linear(self, linear: gridloop.Linear, index: str,
                strides: dict[str, int]) -> str:
        factor = self._polynomial(
            contiguous.substitute(linear.factor, strides))
        value = self.w.inst(f'mul i64 {factor}, {index}')
        if not linear.offset.terms:
            return value
        base = self._polynomial(linear.offset)
        total = self.w.inst(f'add i64 {base}, {value}')
        self.w.follow_pointer(total, base, value)
        return total

    def _polynomial(self, value: polynomial.Polynomial) -> str:
        total = '0'
        for monomial, factor in value.terms.items():
            term = str(factor)
            for symbol in monomial:
                right = self._symbol(symbol)
                term = (right if term == '1' else
                        self.w.inst(f'mul i64 {term}, {right}'))
            total = (term if total == '0' else
                     self.w.inst(f'add i64 {total}, {term}'))
        return total

    def _leave(self, name: str, term: cfg.Term) -> str:
        if term.kind not in ('trap', 'fail'):
            return f'br label %{name}.next'
        # The runtime tells where it happened.
        self.w.stmt(f'store i32 {self.w.env["ctaid.x"]}, ptr %ctaid.ptr')
        if term.kind == 'trap':
            blocks.write_trap(self.w, term)
        return 'br label %done'
