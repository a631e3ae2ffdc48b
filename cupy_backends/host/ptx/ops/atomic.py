"""Atomic operations: ``atom`` returns the old value, ``red`` does not.

Source: PTX ISA, section "Parallel Synchronization and Communication
Instructions".
"""
from __future__ import annotations

import functools

from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import modifiers
from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import values
from cupy_backends.host.ptx import writer

family = functools.partial(
    optable.family, section='Parallel Synchronization and Communication '
    'Instructions')

Writer = writer.Writer
Inst = syntax.Inst

_OPS = frozenset(('add', 'min', 'max', 'inc', 'dec', 'and', 'or', 'xor',
                  'exch', 'cas'))
# Operation of LLVM's atomicrmw by kind of type.
_INTEGER = {'add': 'add', 'and': 'and', 'or': 'or', 'xor': 'xor',
            'exch': 'xchg', 'inc': 'uinc_wrap', 'dec': 'udec_wrap'}
_EXTREME = {'min', 'max'}


@family('atom', '.add .min .max .inc .dec .and .or .xor .exch .cas of 16 to '
        '64 bits, f16(x2), bf16(x2), f32, f64; shared, global, generic',
        has_dest=True)
def atom(w: Writer, inst: Inst) -> None:
    access = modifiers.read(inst, _OPS)
    pointer = w.address(inst.args[1], access.space)
    old = _update(w, access, pointer, inst.args[2:])
    if inst.args[0] != '_':
        w.assign(inst, inst.args[0], access.type, old)


@family('red', 'as atom, without .exch and .cas', has_dest=False)
def red(w: Writer, inst: Inst) -> None:
    access = modifiers.read(inst, _OPS)
    pointer = w.address(inst.args[0], access.space)
    _update(w, access, pointer, inst.args[1:])


def _update(w: Writer, access: modifiers.Access, pointer: str,
            texts: tuple[str, ...]) -> str:
    """Emits the operation and returns the old value, of the access type."""
    kind, order = access.type, access.order or 'monotonic'
    operands = [w.source(text, kind) for text in texts]
    if access.lanes != 1:
        raise writer.Reject('vectors')
    if access.op == 'cas':
        return _exchange_if(w, kind, pointer, order, operands)
    if kind.name in ('f16x2', 'bf16x2', 'bf16'):
        return _narrow(w, access, pointer, order, operands[0])
    name = _name(access)
    if name is None:
        raise writer.Reject(f'.{access.op} of .{kind.name}')
    return w.inst(f'atomicrmw {name} ptr {pointer}, {kind.llvm} '
                  f'{operands[0]} {order}, align {kind.size}')


def _name(access: modifiers.Access) -> str | None:
    kind, op = access.type, access.op
    if kind.is_float:
        return 'fadd' if op == 'add' else None
    if op in _EXTREME:
        return op if kind.signed else f'u{op}'
    return _INTEGER.get(op)


def _exchange_if(w: Writer, kind: dtypes.PTXType, pointer: str, order: str,
                 operands: list[str]) -> str:
    llvm = f'i{kind.bits}'
    expected, new = (values.fit(w, v, kind.llvm, llvm) for v in operands)
    # A failed comparison stores nothing, so it cannot release.
    failed = {'acq_rel': 'acquire', 'release': 'monotonic'}.get(order, order)
    pair = w.inst(f'cmpxchg ptr {pointer}, {llvm} {expected}, {llvm} {new} '
                  f'{order} {failed}, align {kind.size}')
    old = w.inst(f'extractvalue {{ {llvm}, i1 }} {pair}, 0')
    return values.fit(w, old, llvm, kind.llvm)


def _narrow(w: Writer, access: modifiers.Access, pointer: str, order: str,
            value: str) -> str:
    """Emits packed and bfloat additions as a compare-and-swap loop."""
    form = optable.TABLE.get(f'{access.op}.{access.type.name}')
    if form is None or access.op != 'add':
        raise writer.Reject(f'.{access.op} of .{access.type.name}')
    kind, whole = access.type, f'i{access.type.bits}'
    first = w.inst(f'load atomic {whole}, ptr {pointer} monotonic, '
                   f'align {kind.size}')
    before, loop, done = (w.label(h) for h in ('before', 'retry', 'done'))
    w.stmt(f'br label %{before}')
    w.start(before)
    w.stmt(f'br label %{loop}')
    w.start(loop)
    old, seen = w.name('old'), w.name('seen')
    phi = len(w.lines)
    total = form.function(w, form, values.fit(w, old, whole, kind.llvm),
                          value)
    last = w.current_label
    w.lines.insert(phi, f'  {old} = phi {whole} [ {first}, %{before} ], '
                        f'[ {seen}, %{last} ]')
    new = values.fit(w, total, kind.llvm, whole)
    pair = w.inst(f'cmpxchg ptr {pointer}, {whole} {old}, {whole} {new} '
                  f'{order} monotonic, align {kind.size}')
    w.stmt(f'{seen} = extractvalue {{ {whole}, i1 }} {pair}, 0')
    good = w.inst(f'extractvalue {{ {whole}, i1 }} {pair}, 1')
    w.stmt(f'br i1 {good}, label %{done}, label %{loop}')
    w.start(done)
    return values.fit(w, seen, whole, kind.llvm)
