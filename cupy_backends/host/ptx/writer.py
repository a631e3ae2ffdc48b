"""Writes one LLVM function from PTX instructions.

A register's value is remembered per basic block and handed on to blocks
that have no other predecessor; only a register whose value can reach a
block in more than one way lives in an ``alloca``, which LLVM's SROA turns
into SSA form.
"""
from __future__ import annotations

import re
from typing import NamedTuple

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import instinfo
from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx import program as program_
from cupy_backends.host.ptx import reciprocal
from cupy_backends.host.ptx import special
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import values

_ADDRESS = re.compile(
    r'\[(?:([A-Za-z_%$][\w$%~]*)\+?)?(-?(?:0[xX])?[0-9a-fA-F]+)?\]')
_SYMBOL = re.compile(r'([A-Za-z_%$][\w$%~]*)(?:\+(\d+))?')
_POINTER_ADDS = frozenset(('add.s64', 'add.u64'))
_U64 = dtypes.TYPES['u64']


class Reject(Exception):
    """What about an instruction is not supported."""


def split_address(text: str) -> tuple[str, int]:
    """Splits ``[base+offset]``; the base may be the empty string.

    Raises:
        Reject: It is not an address.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise Reject(f'address "{text}"')
    return match[1] or '', int(match[2] or '0', 0)


class _Pointer(NamedTuple):
    """An integer that is also known as a pointer plus an offset."""

    base: str
    offset: str


class Writer(builder.Builder):
    """Emits PTX instructions as LLVM IR; see the module's docstring.

    Attributes:
        program (Program): What the functions of one kernel share.
        function (Function): The function being written.
        body (Body): Its parsed body.
        env (dict): LLVM values of special registers that the surrounding
            loops provide, such as ``'tid.x'``.
        variables (dict): Pointers of local and parameter variables.
        fixed (dict): Registers with one value that is valid in all blocks.
        divisors (dict): Registers with a known reciprocal.
        allocas, prologue (list of str): Lines for the function's start.
        access (str): Metadata that every plain load and store gets.
        current_label (str): The LLVM block being written.
    """

    def __init__(self, program: program_.Program,
                 function: syntax.Function, body: syntax.Body) -> None:
        super().__init__()
        self.program = program
        self.function = function
        self.body = body
        self.declares = program.declares
        self.env: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self.fixed: dict[str, str] = {}
        self.divisors: dict[str, reciprocal.Divisor] = {}
        self.allocas: list[str] = []
        self.prologue: list[str] = []
        self.access = ''
        self.current_label = ''
        self._slots: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._dirty: set[str] = set()
        self._pointers: dict[str, _Pointer] = {}
        self._once: dict[str, str] = {}

    def start(self, label: str) -> None:
        super().start(label)
        self.current_label = label

    # ---- registers -------------------------------------------------------

    def llvm_type(self, reg: str) -> str:
        return 'i1' if reg == instinfo.CARRY else self.body.regs[reg].llvm

    def add_slot(self, reg: str) -> str:
        """Gives a register memory that all blocks share."""
        slot = self.alloca(self.llvm_type(reg))
        self._slots[reg] = slot
        return slot

    def alloca(self, llvm: str, align: int = 0) -> str:
        name = self.name('slot')
        suffix = f', align {align}' if align else ''
        self.allocas.append(f'  {name} = alloca {llvm}{suffix}')
        return name

    def read(self, reg: str) -> str:
        """Returns the value of a register, of its own LLVM type."""
        value = self._values.get(reg) or self.fixed.get(reg)
        if value is None:
            llvm = self.llvm_type(reg)
            slot = self._slots.get(reg)
            # Never written on any path to here: PTX leaves it open.
            value = 'zeroinitializer'
            if slot is not None:
                value = self.inst(f'load {llvm}, ptr {slot}')
            elif llvm[0] == 'i':
                value = 'false' if llvm == 'i1' else '0'
            self._values[reg] = value
        return value

    def write(self, reg: str, value: str) -> None:
        """Sets a register to a value of its own LLVM type."""
        self._values[reg] = value
        if reg in self._slots:
            self._dirty.add(reg)

    def get_carry(self) -> str:
        """Returns the carry flag, an ``i1``."""
        return self.read(instinfo.CARRY)

    def set_carry(self, value: str) -> None:
        self.write(instinfo.CARRY, value)

    def open_block(self, label: str, known: dict[str, str] | None) -> None:
        """Starts a block, with the values its sole predecessor ended with."""
        self.start(label)
        self._values = dict(known or {})

    def close_block(self) -> dict[str, str]:
        """Stores what others may read; comes before the terminator."""
        for reg in sorted(self._dirty):
            self.stmt(f'store {self.llvm_type(reg)} {self._values[reg]}, '
                      f'ptr {self._slots[reg]}')
        self._dirty.clear()
        return self._values

    def start_version(self) -> None:
        """Forgets registers, before the same body is written again."""
        self._slots, self._values = {}, {}

    # ---- values that are the same everywhere ------------------------------

    def once(self, key: str, text: str) -> str:
        """Computes ``text`` at the function's start, only once."""
        value = self._once.get(key)
        if value is None:
            value = self._once[key] = self.name('u')
            self.prologue.append(f'  {value} = {text}')
        return value

    def launch_field(self, offset: int, llvm: str) -> str:
        """Returns a field of ``hd_launch``."""
        pointer = self.once(f'&launch+{offset}', 'getelementptr i8, '
                            f'ptr %launch, i64 {offset}')
        return self.once(f'launch+{offset}', f'load {llvm}, ptr {pointer}, '
                         'align 4, !invariant.load !0')

    def launch_pointer(self, offset: int, size: int) -> str:
        """Returns a field of ``hd_launch`` that points to ``size`` bytes.

        LLVM may then read from there earlier than the program does.
        """
        pointer = self.once(f'&launch+{offset}', 'getelementptr i8, '
                            f'ptr %launch, i64 {offset}')
        return self.once(
            f'launch+{offset}', f'load ptr, ptr {pointer}, align 8, '
            '!invariant.load !0, '
            f'!dereferenceable !{{i64 {max(1, size)}}}')

    def globals_base(self) -> str:
        return self.launch_pointer(program_.LAUNCH_GLOBALS,
                                   self.program.arena.size)

    def params_base(self) -> str:
        return self.launch_pointer(program_.LAUNCH_PARAMS,
                                   self.program.param_layout.size)

    def shared_base(self) -> str:
        """Returns the pointer to the block's shared memory."""
        return self.once('shared', 'load ptr, ptr %block, align 8, '
                         '!invariant.load !0')

    # ---- operands ---------------------------------------------------------

    def source(self, text: str, kind: dtypes.PTXType) -> str:
        """Returns a source operand as a value of its type.

        Raises:
            Reject: The operand is not understood.
        """
        have = self.body.regs.get(text)
        if have is not None:
            return values.fit(self, self.read(text), have.llvm, kind.llvm)
        if text[0] == '!':
            return self.inst(f'xor i1 {self.source(text[1:], kind)}, true')
        if text[0] == '{':
            return self._pack(text[1:-1].split(','), kind)
        constant = values.immediate(text, kind)
        if constant is not None:
            return constant
        if text in special.REGISTERS:
            found, value = special.read(self, text)
            return values.fit(self, value, found, kind.llvm)
        return self._symbol_value(text, kind)

    def _pack(self, parts: list[str], kind: dtypes.PTXType) -> str:
        """Returns a vector operand as one value, first element lowest."""
        bits = kind.bits // len(parts)
        element = dtypes.TYPES[f'b{bits}']
        whole = f'i{kind.bits}'
        total = '0'
        for number, part in enumerate(parts):
            value = self.source(part, element)
            value = self.cast('zext', value, element.llvm, whole)
            if number:
                value = self.inst(f'shl {whole} {value}, {bits * number}')
                value = self.inst(f'or {whole} {total}, {value}')
            total = value
        return self.cast('bitcast', total, whole, kind.llvm)

    def _symbol_value(self, text: str, kind: dtypes.PTXType) -> str:
        match = _SYMBOL.fullmatch(text)
        if match is None:
            raise Reject(f'operand "{text}"')
        name, addend = match[1], int(match[2] or 0)
        offset = self.program.shared.offsets.get(name)
        if offset is not None and name not in self.variables:
            return str(offset + addend)
        pointer = self.symbol_pointer(name, addend)
        value = self.inst(f'ptrtoint ptr {pointer} to i64')
        self._pointers[value] = _Pointer(pointer, '0')
        return values.fit(self, value, 'i64', kind.llvm)

    def assign(self, inst: syntax.Inst, text: str, kind: dtypes.PTXType,
               value: str) -> None:
        """Writes a destination operand, as far as the guard allows.

        Args:
            inst (Inst): For its guard.
            text (str): Operand: a register, ``_`` or a vector.
            kind (PTXType): Type of the operand.
            value (str): The value, of that type.
        """
        if text[0] == '{':
            self._unpack(inst, text[1:-1].split(','), kind, value)
            return
        have = self.body.regs.get(text)
        if have is None:
            if text != '_':
                raise Reject(f'destination "{text}"')
            return
        value = values.fit(self, value, kind.llvm, have.llvm, kind.signed)
        if inst.pred:
            value = self._guarded(inst, text, have.llvm, value)
        self.write(text, value)

    def _guarded(self, inst: syntax.Inst, reg: str, llvm: str,
                 value: str) -> str:
        old, guard = self.read(reg), self.read(inst.pred)
        if inst.negated:
            return self.select(guard, llvm, old, value)
        return self.select(guard, llvm, value, old)

    def _unpack(self, inst: syntax.Inst, parts: list[str],
                kind: dtypes.PTXType, value: str) -> None:
        bits = kind.bits // len(parts)
        element = dtypes.TYPES[f'b{bits}']
        whole = f'i{kind.bits}'
        value = self.cast('bitcast', value, kind.llvm, whole)
        for number, part in enumerate(parts):
            if part == '_':
                continue
            piece = value
            if number:
                piece = self.inst(f'lshr {whole} {value}, {bits * number}')
            piece = self.cast('trunc', piece, whole, element.llvm)
            self.assign(inst, part, element, piece)

    # ---- addresses --------------------------------------------------------

    def address(self, text: str, space: str) -> str:
        """Returns a bracketed address operand as an LLVM pointer.

        Args:
            text (str): Operand such as ``'[%rd1+8]'``.
            space (str): State space, or the empty string when generic.
        """
        base, offset = split_address(text)
        if not base:
            return f'inttoptr (i64 {offset} to ptr)'
        if base not in self.body.regs:
            return self.symbol_pointer(base, offset)
        value = self.source(base, _U64)
        if space.startswith('shared'):
            return self.gep(self.gep(self.shared_base(), value), str(offset))
        return self.gep(self.pointer(value), str(offset))

    def gep(self, pointer: str, offset: str) -> str:
        if offset == '0':
            return pointer
        return self.inst(f'getelementptr i8, ptr {pointer}, i64 {offset}')

    def pointer(self, value: str) -> str:
        """Returns a generic address as a pointer."""
        known = self._pointers.get(value)
        if known is not None:
            return self.gep(known.base, known.offset)
        return self.inst(f'inttoptr i64 {value} to ptr')

    def note_pointer(self, value: str) -> None:
        """Remembers that an integer came from a pointer conversion.

        Additions to it become ``getelementptr``, which LLVM's alias
        analysis understands.
        """
        if value[0] == '%' and value not in self._pointers:
            pointer = self.inst(f'inttoptr i64 {value} to ptr')
            self._pointers[value] = _Pointer(pointer, '0')

    def set_pointer(self, value: str, base: str, offset: str) -> None:
        """Notes that an integer is the pointer ``base`` plus ``offset``."""
        self._pointers[value] = _Pointer(base, offset)

    def follow_pointer(self, result: str, a: str, b: str) -> None:
        """Notes that ``result = a + b``, of which one may be a pointer."""
        for value, other in ((a, b), (b, a)):
            known = self._pointers.get(value)
            if known is None:
                continue
            if known.offset == '0':
                self._pointers[result] = _Pointer(known.base, other)
            elif known.offset.isdigit() and other.isdigit():
                total = int(known.offset) + int(other)
                self._pointers[result] = _Pointer(known.base, str(total))
            else:
                base = self.gep(known.base, known.offset)
                self._pointers[result] = _Pointer(base, other)
            return

    def symbol_pointer(self, name: str, addend: int) -> str:
        """Returns the pointer to a variable plus a number of bytes."""
        pointer = self.variables.get(name)
        if pointer is not None:
            return self.gep(pointer, str(addend))
        base, offset = self._module_symbol(name)
        return self.gep(base, str(offset + addend))

    def _module_symbol(self, name: str) -> tuple[str, int]:
        if name in self.program.params:
            return self.params_base(), self.program.params[name]
        if name in self.program.shared.offsets:
            return self.shared_base(), self.program.shared.offsets[name]
        if name in self.program.arena.offsets:
            return self.globals_base(), self.program.arena.offsets[name]
        if name in self.program.table.functions:
            raise Reject(f'the address of the function {name}')
        raise Reject(f'the unknown name {name}')

    # ---- instructions -----------------------------------------------------

    def emit(self, inst: syntax.Inst) -> None:
        """Emits one instruction other than control flow.

        Raises:
            UnsupportedInstruction: It is not in the tables.
        """
        try:
            self._emit(inst)
        except Reject as error:
            raise self.unsupported(inst, str(error)) from None

    def unsupported(self, inst: syntax.Inst,
                    reason: str = '') -> errors.UnsupportedInstruction:
        return errors.UnsupportedInstruction(
            str(inst), self.function.name,
            self.program.table.line(inst.pos), reason)

    def _emit(self, inst: syntax.Inst) -> None:
        form = optable.TABLE.get(inst.opcode)
        if form is not None:
            self._emit_form(inst, form)
            return
        family = optable.FAMILIES.get(inst.opcode.split('.', 1)[0])
        if family is None:
            raise Reject('')
        family.function(self, inst)

    def _emit_form(self, inst: syntax.Inst, form: optable.Form) -> None:
        count = 1 if form.dests else 0
        texts = inst.args[count:]
        if len(texts) != len(form.srcs):
            raise Reject(f'{len(form.srcs)} source operands expected')
        sources = [self.source(text, kind)
                   for text, kind in zip(texts, form.srcs)]
        if inst.opcode in reciprocal.OPCODES and texts[1] in self.divisors:
            result = reciprocal.divide(self, inst, *sources)
        else:
            result = form.function(self, form, *sources)
        if not form.dests:
            return
        if inst.opcode in _POINTER_ADDS:
            self.follow_pointer(result, *sources)
        results = result if isinstance(result, tuple) else (result,)
        for text, kind, value in zip(
                inst.args[0].split('|'), form.dests, results):
            self.assign(inst, text, kind, value)
