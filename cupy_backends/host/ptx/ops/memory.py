"""Loads, stores, address conversion and fences.

All state spaces but ``.shared`` have generic addresses here; a shared
address is an offset into the block's shared memory.

Source: PTX ISA, sections "Data Movement and Conversion Instructions" and
"Parallel Synchronization and Communication Instructions".
"""
from __future__ import annotations

import functools

from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import modifiers
from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import values
from cupy_backends.host.ptx import writer

family = functools.partial(
    optable.family, section='Data Movement and Conversion Instructions')

Writer = writer.Writer
Inst = syntax.Inst


@family('ld', 'all spaces and types, .v2/.v4, .volatile, .relaxed, .acquire',
        has_dest=True)
def ld(w: Writer, inst: Inst) -> None:
    access = modifiers.read(inst)
    pointer = w.address(inst.args[1], access.space)
    suffix = _invariant(w, inst, access)
    for text, place in _elements(w, inst.args[0], access, pointer):
        value = w.inst(_load(access, place) + suffix + w.access)
        if text != '_':
            w.assign(inst, text, access.type, value)


def _elements(w: Writer, operand: str, access: modifiers.Access,
              pointer: str) -> list[tuple[str, str]]:
    """Returns the registers of an operand with the place of each."""
    if operand[0] != '{':
        return [(operand, pointer)]
    names = operand[1:-1].split(',')
    if len(names) != access.lanes:
        raise writer.Reject(f'{access.lanes} registers expected')
    size = access.type.size
    return [(name, w.gep(pointer, str(k * size)))
            for k, name in enumerate(names)]


def _load(access: modifiers.Access, pointer: str) -> str:
    llvm, size = access.type.llvm, access.type.size
    volatile = 'volatile ' if access.volatile else ''
    if access.order and access.lanes == 1:
        return (f'load atomic {volatile}{llvm}, ptr {pointer} '
                f'{access.order}, align {size}')
    return f'load {volatile}{llvm}, ptr {pointer}, align {size}'


def _invariant(w: Writer, inst: Inst, access: modifiers.Access) -> str:
    """Marks loads of what no thread can write while the kernel runs."""
    kernel_param = (access.space == 'param' and w.function.is_entry
                    and inst.args[1][1:-1].split('+')[0] in w.program.params)
    if kernel_param or access.space == 'const':
        return ', !invariant.load !0'
    return ''


@family('ldu', 'as ld', has_dest=True)
def ldu(w: Writer, inst: Inst) -> None:
    ld(w, inst)


@family('st', 'all spaces and types, .v2/.v4, .volatile, .relaxed, .release',
        has_dest=False)
def st(w: Writer, inst: Inst) -> None:
    access = modifiers.read(inst)
    pointer = w.address(inst.args[0], access.space)
    places = _elements(w, inst.args[1], access, pointer)
    found = [(w.source(text, access.type), place) for text, place in places]
    for value, place in found:
        w.stmt(_store(access, value, place) + w.access)


def _store(access: modifiers.Access, value: str, pointer: str) -> str:
    llvm, size = access.type.llvm, access.type.size
    volatile = 'volatile ' if access.volatile else ''
    if access.order and access.lanes == 1:
        return (f'store atomic {volatile}{llvm} {value}, ptr {pointer} '
                f'{access.order}, align {size}')
    return f'store {volatile}{llvm} {value}, ptr {pointer}, align {size}'


@family('prefetch', 'ignored', has_dest=False)
def prefetch(w: Writer, inst: Inst) -> None:
    pass


@family('prefetchu', 'ignored', has_dest=False)
def prefetchu(w: Writer, inst: Inst) -> None:
    pass


@family('discard', 'ignored', has_dest=False)
def discard(w: Writer, inst: Inst) -> None:
    pass


@family('applypriority', 'ignored', has_dest=False)
def applypriority(w: Writer, inst: Inst) -> None:
    pass


_U64 = dtypes.TYPES['u64']


@family('cvta', 'cvta{.to}.global/shared/local/const/param.u32/u64',
        has_dest=True)
def cvta(w: Writer, inst: Inst) -> None:
    words = inst.opcode.split('.')[1:]
    kind = dtypes.TYPES[words[-1]]
    value = w.source(inst.args[1], _U64)
    if any(word.startswith('shared') for word in words):
        base = w.once('shared.int', f'ptrtoint ptr {w.shared_base()} to i64')
        op = 'sub' if 'to' in words else 'add'
        value = w.inst(f'{op} i64 {value}, {base}')
        if op == 'add':
            w.note_pointer(value)
    else:
        w.note_pointer(value)
    value = values.fit(w, value, 'i64', kind.llvm)
    w.assign(inst, inst.args[0], kind, value)


@family('isspacep', 'isspacep.global/shared/local/const/param',
        has_dest=True)
def isspacep(w: Writer, inst: Inst) -> None:
    space = inst.opcode.split('.')[1]
    value = w.source(inst.args[1], _U64)
    if space == 'shared':
        found = _in_shared(w, value)
    elif space == 'const':
        found = _in_constants(w, value)
    elif space == 'local':
        found = _in_locals(w, value)
    elif space == 'global':
        either = w.inst(
            f'or i1 {_in_shared(w, value)}, {_in_locals(w, value)}')
        either = w.inst(f'or i1 {either}, {_in_constants(w, value)}')
        found = w.inst(f'xor i1 {either}, true')
    else:
        raise writer.Reject(f'the state space .{space}')
    w.assign(inst, inst.args[0], dtypes.TYPES['pred'], found)


def _in_range(w: Writer, value: str, pointer: str, size: str) -> str:
    start = w.inst(f'ptrtoint ptr {pointer} to i64')
    offset = w.inst(f'sub i64 {value}, {start}')
    return w.inst(f'icmp ult i64 {offset}, {size}')


def _in_shared(w: Writer, value: str) -> str:
    dynamic = w.launch_field(program.LAUNCH_DYNAMIC_SHARED, 'i32')
    dynamic = w.inst(f'zext i32 {dynamic} to i64')
    size = w.inst(f'add i64 {dynamic}, {w.program.shared.size}')
    return _in_range(w, value, w.shared_base(), size)


def _in_locals(w: Writer, value: str) -> str:
    found = 'false'
    for name, pointer in w.variables.items():
        size = w.body.variables[name].size
        inside = _in_range(w, value, pointer, str(size))
        found = w.inst(f'or i1 {found}, {inside}')
    return found


def _in_constants(w: Writer, value: str) -> str:
    found = 'false'
    for name, offset in w.program.arena.offsets.items():
        variable = w.program.table.variables[name]
        if variable.space == 'const':
            pointer = w.gep(w.globals_base(), str(offset))
            inside = _in_range(w, value, pointer, str(variable.size))
            found = w.inst(f'or i1 {found}, {inside}')
    return found


@family('membar', 'membar.cta/gl/sys', has_dest=False)
def membar(w: Writer, inst: Inst) -> None:
    w.stmt('fence seq_cst')


@family('fence', 'fence{.sc/.acq_rel/...}.cta/gpu/sys', has_dest=False)
def fence(w: Writer, inst: Inst) -> None:
    words = inst.opcode.split('.')
    if 'proxy' in words or 'mbarrier_init' in words:
        raise writer.Reject('')
    w.stmt('fence ' + ('seq_cst' if 'sc' in words else 'acq_rel'))
