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
from cupy_backends.host.ptx import rare
from cupy_backends.host.ptx import reciprocal
from cupy_backends.host.ptx import straight
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer

_HEAD = '''define {linkage}void @{name}(ptr noalias %launch, \
ptr noalias %block, i64 %first, i64 %end) #0 {{
entry:'''

_SIDE = '''{label}:
  call void @{name}(ptr %launch, ptr %block, i64 %first, i64 %end)
  ret void'''

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
  br i1 %lap.any, label %part, label %repeat.next
part:
  %part.first = phi i64 [ %lap.first, %lap.head ], [ %part.last, %part.next ]
  %part.end = add i64 %part.first, {part}
  %part.short = icmp slt i64 %lap.last, %part.end
  %part.last = select i1 %part.short, i64 %lap.last, i64 %part.end'''

_VERSION = '''{v}.loop:{before}
  br label %{v}.head
{v}.head:
  %{v}.i = phi i64 [ %part.first, %{v}.loop ], [ %{v}.n, %{v}.next ]'''

_VERSION_END = '''  %{v}.n = add nuw nsw i64 %{v}.i, 1
  %{v}.more = icmp slt i64 %{v}.n, %part.last
  br i1 %{v}.more, label %{v}.head, label %{done}{loop}'''

# Looks which of the iterations have to go the rare way: a byte for each.
# (LLVM does not see a reduction in what is left of the body.)
_CHECK_END = '''  %check.bit = load i1, ptr {flag}
  %check.byte = zext i1 %check.bit to i8
  %check.at = sub i64 %check.i, %part.first
  %check.place = getelementptr i8, ptr {flags}, i64 %check.at
  store i8 %check.byte, ptr %check.place, !llvm.access.group !1'''

_END = '''part.next:
  %part.more = icmp slt i64 %part.last, %lap.last
  br i1 %part.more, label %part, label %lap.next
lap.next:
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

# Iterations that are checked together: they should stay in the L1 cache.
_PART = 1024
_ROW = 128
_WHOLE = 1 << 62

_S64 = dtypes.TYPES['s64']
_U64 = dtypes.TYPES['u64']


def write(shared: program.Program, body: syntax.Body,
          loop: gridloop.GridLoop | gridloop.Fork,
          name: str = straight.NAME) -> tuple[list[str], bool]:
    """Returns the texts of the kernel's LLVM functions, and whether there is
    a loop that can be vectorised.

    Args:
        shared (Program): State of the translation.
        body (Body): The kernel's body.
        loop (GridLoop or Fork): What it consists of.
        name (str): Name of the function.
    """
    if isinstance(loop, gridloop.GridLoop):
        kernel = _FlatKernel(shared, body, loop)
        return [kernel.write(name)], kernel.version is not None
    texts, vectorise = [_decision(shared, body, loop, name)], False
    for number, side in enumerate(loop.sides):
        more, found = write(shared, body, side, f'{name}.{number}')
        texts += more
        vectorise |= found
    return texts, vectorise


def _head(name: str) -> str:
    linkage = '' if name == straight.NAME else 'internal '
    return _HEAD.format(name=name, linkage=linkage)


def _decision(shared: program.Program, body: syntax.Body,
              fork: gridloop.Fork, name: str) -> str:
    """Returns the function that calls the one or the other."""
    w = writer.Writer(shared, shared.kernel, body)
    for inst in fork.setup:
        w.emit(inst)
    sides = ['other', 'taken'] if fork.decision.negated else [
        'taken', 'other']
    w.stmt(f'br i1 {w.read(fork.decision.pred)}, label %{sides[0]}, '
           f'label %{sides[1]}')
    calls = [_SIDE.format(label=label, name=f'{name}.{number}')
             for number, label in enumerate(('taken', 'other'))]
    return '\n'.join([_head(name), *w.allocas, *w.prologue, *w.lines,
                      *calls, '}'])


class _FlatKernel:
    def __init__(self, shared: program.Program, body: syntax.Body,
                 loop: gridloop.GridLoop) -> None:
        self.loop = loop
        self.w = writer.Writer(shared, shared.kernel, body)
        self.sizes = straight.load_sizes(self.w)
        self.version = contiguous.find(loop, body)
        self.live = set(liveness.Liveness(loop.graph, body, loop.linear)
                        .live_in(loop.graph.entry))

    def write(self, name: str) -> str:
        w = self.w
        locals_ = straight.add_locals(w)
        self._setup()
        bound = w.source(self.loop.bound, _S64)
        guard = self._guard(bound)
        setup, w.lines = w.lines, []
        version = self.version
        first = 'any' if not version else 'check' if version.bails else 'fast'
        w.stmt(f'br i1 {guard}, label %{first}.loop, label %any.loop')
        self._any(locals_)
        if version:
            self._fast(version)
        head = _LOOPS.format(
            bound=bound, ctaid=program.BLOCK_CTAID, **self.sizes,
            part=_PART if version and version.bails else _WHOLE)
        return '\n'.join([_head(name), *w.allocas, *w.prologue, *setup, head,
                          *w.lines, _END])

    def _any(self, locals_: str) -> None:
        self._write_version(
            'any', self.loop.graph, self._leave, start=locals_,
            loop=self.w.program.loop_metadata(
                'scalar' if self.version else ''))

    def _fast(self, version: contiguous.Version) -> None:
        if version.bails:
            self._check(version)
        self._write_version(
            'fast', rare.without_bails(version.graph),
            lambda term: 'br label %fast.next',
            loop=self.w.program.loop_metadata('parallel'))

    def _check(self, version: contiguous.Version) -> None:
        """Writes the choice between the versions for a part."""
        w = self.w
        flag, flags = w.alloca('i1'), w.alloca(f'[{_PART} x i8]', 64)
        self._write_version(
            'check', rare.without_stores(version.graph),
            lambda term: self._note(flag, term),
            before=f'  call void @llvm.memset.p0.i64(ptr {flags}, i8 0, '
            f'i64 {_PART}, i1 false)',
            start=f'  store i1 false, ptr {flag}',
            end=_CHECK_END.format(flag=flag, flags=flags), done='check.done',
            loop=w.program.loop_metadata('parallel'))
        w.declares['llvm.memset.p0.i64'] = (
            'declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)')
        w.start('check.done')
        seen = self._any_set(flags)
        w.stmt(f'br i1 {seen}, label %any.loop, label %fast.loop')

    def _any_set(self, flags: str) -> str:
        """Returns whether one of the bytes is not zero."""
        w, total = self.w, 'zeroinitializer'
        for start in range(0, _PART, _ROW):
            row = w.inst(f'load <{_ROW} x i8>, ptr '
                         f'{w.gep(flags, str(start))}, align 64')
            total = w.inst(f'or <{_ROW} x i8> {total}, {row}')
        bits = w.call('i8', f'llvm.vector.reduce.or.v{_ROW}i8',
                      [(f'<{_ROW} x i8>', total)])
        return w.inst(f'icmp ne i8 {bits}, 0')

    def _note(self, flag: str, term: cfg.Term) -> str:
        if term.kind == rare.BAIL:
            self.w.stmt(f'store i1 true, ptr {flag}')
        return 'br label %check.next'

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

    def _write_version(
            self, name: str, graph: cfg.Graph, ending: blocks.Ending, *,
            loop: str, before: str = '', start: str = '', end: str = '',
            done: str = 'part.next') -> None:
        """Writes a loop over the iterations of a part.

        Args:
            name (str): Prefix of labels.
            graph (Graph): The body.
            ending: Ends an iteration.
            loop (str): Metadata of the loop.
            before (str): Lines to come before the loop.
            start, end (str): Lines for the body's start and end.
            done (str): Label to go to afterwards.
        """
        w, fast = self.w, name != 'any'
        w.start_version()
        w.lines.append('\n'.join(filter(None, [
            _VERSION.format(v=name, before='\n' * bool(before) + before),
            start])))
        self._environment(name)
        kept = dict(w.fixed)
        w.fixed.update(self._linear_values(f'%{name}.i', fast))
        w.access = program.PARALLEL if fast else ''
        out = blocks.BlockWriter(w, graph, graph.order(graph.entry), {},
                                 ending, f'{name}.b')
        out.start(lambda reg: 'zeroinitializer' if reg in self.live
                  else None, {})
        out.write()
        w.access = ''
        w.lines.append('\n'.join(filter(None, [
            f'{name}.next:', end,
            _VERSION_END.format(v=name, loop=loop, done=done)])))
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

    def _leave(self, term: cfg.Term) -> str:
        if term.kind not in ('trap', 'fail'):
            return 'br label %any.next'
        # The runtime tells where it happened.
        self.w.stmt(f'store i32 {self.w.env["ctaid.x"]}, ptr %ctaid.ptr')
        if term.kind == 'trap':
            blocks.write_trap(self.w, term)
        return 'br label %done'
