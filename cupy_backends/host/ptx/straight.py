"""Writes a kernel in which no thread waits for another.

The function runs a range of blocks; the loops over blocks and threads are
inside, around the kernel's body.
"""
from __future__ import annotations

from cupy_backends.host.ptx import blocks
from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import remat
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer

NAME = 'hd_kernel'

_HEAD = f'''define void @{NAME}(ptr noalias %launch, ptr noalias %block, \
i64 %first, i64 %end) #0 {{
entry:'''

_LOOPS = '''  %gx = zext i32 {nctaid_x} to i64
  %gy = zext i32 {nctaid_y} to i64
  %f.rest = udiv i64 %first, %gx
  %f.xl = urem i64 %first, %gx
  %f.yl = urem i64 %f.rest, %gy
  %f.zl = udiv i64 %f.rest, %gy
  %f.x = trunc i64 %f.xl to i32
  %f.y = trunc i64 %f.yl to i32
  %f.z = trunc i64 %f.zl to i32
  %ctaid.ptr = getelementptr i8, ptr %block, i64 {ctaid}
  %ctaid.ptr.y = getelementptr i8, ptr %ctaid.ptr, i64 4
  %ctaid.ptr.z = getelementptr i8, ptr %ctaid.ptr, i64 8
  %any = icmp ult i64 %first, %end
  br i1 %any, label %block.head, label %done
block.head:
  %bid = phi i64 [ %first, %entry ], [ %bid.next, %block.next ]
  %ctaid.x = phi i32 [ %f.x, %entry ], [ %n.x, %block.next ]
  %ctaid.y = phi i32 [ %f.y, %entry ], [ %n.y, %block.next ]
  %ctaid.z = phi i32 [ %f.z, %entry ], [ %n.z, %block.next ]
  store i32 %ctaid.x, ptr %ctaid.ptr
  store i32 %ctaid.y, ptr %ctaid.ptr.y
  store i32 %ctaid.z, ptr %ctaid.ptr.z
  br label %z.head
z.head:
  %tid.z = phi i32 [ 0, %block.head ], [ %tid.z.next, %z.next ]
  br label %y.head
y.head:
  %tid.y = phi i32 [ 0, %z.head ], [ %tid.y.next, %y.next ]
  br label %thread
thread:
  %tid.x = phi i32 [ 0, %y.head ], [ %tid.x.next, %thread.next ]
'''

_NEXT = '''thread.next:
  %tid.x.next = add nuw nsw i32 %tid.x, 1
  %more.x = icmp ult i32 %tid.x.next, {ntid_x}
  br i1 %more.x, label %thread, label %y.next
y.next:
  %tid.y.next = add nuw nsw i32 %tid.y, 1
  %more.y = icmp ult i32 %tid.y.next, {ntid_y}
  br i1 %more.y, label %y.head, label %z.next
z.next:
  %tid.z.next = add nuw nsw i32 %tid.z, 1
  %more.z = icmp ult i32 %tid.z.next, {ntid_z}
  br i1 %more.z, label %z.head, label %block.next
block.next:
  %i.x = add i32 %ctaid.x, 1
  %wrap.x = icmp eq i32 %i.x, {nctaid_x}
  %n.x = select i1 %wrap.x, i32 0, i32 %i.x
  %c.x = zext i1 %wrap.x to i32
  %i.y = add i32 %ctaid.y, %c.x
  %wrap.y = icmp eq i32 %i.y, {nctaid_y}
  %n.y = select i1 %wrap.y, i32 0, i32 %i.y
  %c.y = zext i1 %wrap.y to i32
  %n.z = add i32 %ctaid.z, %c.y
  %bid.next = add nuw i64 %bid, 1
  %more = icmp ult i64 %bid.next, %end
  br i1 %more, label %block.head, label %done
done:
  ret void
}}'''


def write(shared: program.Program, body: syntax.Body,
          graph: cfg.Graph) -> str:
    """Returns the text of the kernel's LLVM function.

    Args:
        shared (Program): State of the translation.
        body (Body): The kernel's body.
        graph (Graph): Its control flow graph, without stops.
    """
    w = writer.Writer(shared, shared.kernel, body)
    for axis in 'xyz':
        w.env[f'tid.{axis}'] = f'%tid.{axis}'
        w.env[f'ctaid.{axis}'] = f'%ctaid.{axis}'
    sizes = load_sizes(w)
    locals_ = add_locals(w)
    fixed = remat.find(graph, body, frozenset(shared.params))
    labels = graph.order(graph.entry)
    out = blocks.BlockWriter(w, graph, labels, fixed,
                             lambda term: _leave(w, term))
    live = set(liveness.Liveness(graph, body, fixed).live_in(graph.entry))
    # A register that is read before it is written must not hold what the
    # thread before has left in it.
    out.start(lambda reg: 'zeroinitializer' if reg in live else None, {})
    out.write()
    return '\n'.join([
        _HEAD, *w.allocas, *w.prologue,
        _LOOPS.format(ctaid=program.BLOCK_CTAID, **sizes) + locals_,
        *w.lines, _NEXT.format(**sizes)])


def load_sizes(w: writer.Writer) -> dict[str, str]:
    """Loads the grid's and the block's sizes at the function's start."""
    sizes = {}
    for number, axis in enumerate('xyz'):
        offset = 4 * number
        sizes[f'nctaid_{axis}'] = w.launch_field(
            program.LAUNCH_GRID + offset, 'i32')
        sizes[f'ntid_{axis}'] = w.launch_field(
            program.LAUNCH_BLOCK + offset, 'i32')
    return sizes


def add_locals(w: writer.Writer) -> str:
    """Gives local and call parameter variables memory on the stack.

    Returns:
        str: Lines for where a thread starts: its variables do not hold
        what the thread before it has left there.
    """
    lines = []
    for variable in w.body.variables.values():
        if variable.space not in ('local', 'param'):
            continue
        if variable.name in w.program.params or variable.name in w.variables:
            continue
        size = max(1, variable.size)
        slot = w.alloca(f'[{size} x i8]', max(variable.align, 1))
        w.variables[variable.name] = slot
        lines.append(f'  call void @llvm.lifetime.start.p0(i64 {size}, '
                     f'ptr {slot})\n')
    if lines:
        w.declares['llvm.lifetime.start.p0'] = (
            'declare void @llvm.lifetime.start.p0(i64, ptr)')
    return ''.join(lines)


def _leave(w: writer.Writer, term: cfg.Term) -> str:
    if term.kind == 'trap':
        blocks.write_trap(w, term)
    at_once = term.kind in ('trap', 'fail')
    return f'br label %{"done" if at_once else "thread.next"}'
