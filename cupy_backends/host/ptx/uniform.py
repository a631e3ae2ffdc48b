"""Evaluates straight code symbolically.

Tells which registers have the same value in all threads, and for 64-bit
registers which polynomial of the thread's indices they hold.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
import re

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import instinfo
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import polynomial
from cupy_backends.host.ptx import remat
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import values

Poly = polynomial.Polynomial

TID, CTAID, NTID, NCTAID = '%tid.x', '%ctaid.x', '%ntid.x', '%nctaid.x'
# Indices of a thread, and the sizes, which all threads share.
_INDICES = frozenset((TID, CTAID))
_SIZES = frozenset((NTID, NCTAID))

_COPIES = frozenset(('mov.u64', 'mov.b64', 'mov.s64', 'mov.u32', 'mov.b32',
                     'cvt.u64.u32', 'cvta.to.global.u64'))
_SUMS = frozenset(('add.s64', 'add.u64'))
_DIFFERENCES = frozenset(('sub.s64', 'sub.u64'))
_PRODUCTS = frozenset(('mul.lo.s64', 'mul.lo.u64', 'mul.wide.u32'))
_MULTIPLY_ADDS = frozenset(('mad.lo.s64', 'mad.lo.u64', 'mad.wide.u32'))


class Evaluator:
    """Values of registers after some instructions.

    A 32-bit register that is known counts as zero-extended; only copies of
    special registers are.

    Attributes:
        known (dict): Polynomial of each register that has one.
        uniform (set of str): Registers that are the same in all threads.
        setup (list of Inst): Instructions that give the uniform ones.
        registers (dict): A register for each symbol of the polynomials.
    """

    def __init__(self, body: syntax.Body) -> None:
        self._body = body
        self.known: dict[str, Poly] = {}
        self.uniform: set[str] = set()
        self.setup: list[syntax.Inst] = []
        self.registers: dict[str, str] = {}

    def value(self, text: str) -> Poly | None:
        """Returns the polynomial of an operand, if it has one."""
        if text in self._body.regs:
            return self.known.get(text)
        if text in _INDICES or text in _SIZES:
            return polynomial.symbol(text)
        number = values.constant_bits(text, values.U64)
        return None if number is None else polynomial.constant(number)

    def run(self, inst: syntax.Inst, defs: Sequence[str],
            uses: Sequence[str]) -> None:
        """Evaluates one instruction.

        Args:
            inst (Inst): An instruction without a guard.
            defs, uses (tuple of str): Registers it writes and reads.
        """
        result = self._result(inst)
        uniform = self.is_uniform(inst, uses)
        for reg in defs:
            self.known.pop(reg, None)
            self.uniform.discard(reg)
            if uniform:
                self.uniform.add(reg)
                self.known[reg] = self._new_symbol(inst, reg)
        if result is not None:
            self.known[defs[0]] = result
        if uniform:
            self.setup.append(inst)

    def is_uniform(self, inst: syntax.Inst, uses: Sequence[str]) -> bool:
        """Returns whether an instruction does the same in all threads."""
        return (self.uniform.issuperset(uses)
                and not self._reads_thread(inst)
                and not names_own_variable(inst, self._body))

    def _new_symbol(self, inst: syntax.Inst, reg: str) -> Poly:
        name = f'{reg}:{len(self.registers)}'
        if inst.opcode.startswith('ld.param.'):
            # The compiler loads a parameter again rather than keep it.
            name = f'{inst.opcode} {inst.args[1]}'
        self.registers.setdefault(name, reg)
        return polynomial.symbol(name)

    def _reads_thread(self, inst: syntax.Inst) -> bool:
        return any(arg[0] == '%' and arg not in self._body.regs
                   and arg not in _SIZES for arg in inst.args)

    def _result(self, inst: syntax.Inst) -> Poly | None:
        opcode = inst.opcode
        if opcode in _COPIES:
            return self.value(inst.args[1])
        if opcode in _SUMS:
            return self._binary(inst, lambda a, b: a + b)
        if opcode in _DIFFERENCES:
            return self._binary(inst, lambda a, b: a - b)
        if opcode in _PRODUCTS:
            return self._binary(inst, lambda a, b: a * b)
        if opcode == 'shl.b64':
            return self._binary(inst, _shift)
        if opcode in _MULTIPLY_ADDS:
            product = self._binary(inst, lambda a, b: a * b)
            addend = self.value(inst.args[3])
            return product + addend if product and addend else None
        return None

    def _binary(self, inst: syntax.Inst,
                combine: Callable[[Poly, Poly], Poly | None]) -> Poly | None:
        a, b = (self.value(text) for text in inst.args[1:3])
        return combine(a, b) if a is not None and b is not None else None


def _shift(value: Poly, amount: Poly) -> Poly | None:
    bits = amount.terms.get((), 0)
    if amount.symbols() or bits >= 64:
        return None
    return value * polynomial.constant(1 << bits)


def is_uniform(value: Poly) -> bool:
    return not value.symbols() & _INDICES


def names_own_variable(inst: syntax.Inst, body: syntax.Body) -> bool:
    """Returns whether an operand is a variable that each thread has."""
    return any(
        arg in body.variables and body.variables[arg].space in (
            'local', 'param')
        for arg in inst.args)


def registers(graph: cfg.Graph, body: syntax.Body,
              params: frozenset[str]) -> set[str]:
    """Returns the registers that are the same in all threads of a block.

    Args:
        graph (Graph): Control flow graph.
        body (Body): For the registers.
        params (set of str): Kernel parameters.
    """
    counts = liveness.definition_counts(graph, body)
    same: set[str] = set()
    for label in graph.order(graph.entry):
        block = graph.blocks[label]
        for inst, effect in zip(block.insts, block.effects):
            if (len(effect.defs) == 1 and counts[effect.defs[0]] == 1
                    and not inst.pred
                    and _is_same_in_block(inst, body, params)
                    and same.issuperset(effect.uses)):
                same.add(effect.defs[0])
    return same


def follow(graph: cfg.Graph, same: set[str], source: str) -> set[str]:
    """Returns the registers of ``same`` that depend on a special register.

    Args:
        graph (Graph): Control flow graph.
        same (set of str): As :func:`registers` returns it.
        source (str): The special register without its axis.
    """
    found: set[str] = set()
    for label in graph.order(graph.entry):
        block = graph.blocks[label]
        for inst, effect in zip(block.insts, block.effects):
            if same.issuperset(effect.defs) and (
                    found.intersection(effect.uses)
                    or any(arg.startswith(source) for arg in inst.args)):
                found.update(effect.defs)
    return found


_PER_BLOCK = re.compile(r'%(?:ntid|nctaid|ctaid)\.[xyz]')


def _is_same_in_block(inst: syntax.Inst, body: syntax.Body,
                      params: frozenset[str]) -> bool:
    if remat.is_parameter_load(inst, params):
        return True
    if not (instinfo.is_pure(inst) or inst.opcode.startswith('cvta.')):
        return False
    if names_own_variable(inst, body):
        return False
    return all(arg[0] != '%' or arg in body.regs
               or _PER_BLOCK.fullmatch(arg) for arg in inst.args)
