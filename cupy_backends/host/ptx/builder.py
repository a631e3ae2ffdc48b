"""Writes the LLVM IR of one function as text.

Text is emitted instead of building ``llvmlite.ir`` objects because it is an
order of magnitude faster for the sizes at hand.
"""
from __future__ import annotations

from collections.abc import Sequence


class Builder:
    """Appends instructions to the current basic block.

    An operand is always a string that LLVM understands at the place of a
    value: a name (``'%5'``), or a constant (``'7'``, ``'true'``).

    Attributes:
        lines (list of str): The body emitted so far.
        declares (dict): Declarations of the external functions called,
            by name; the module writer emits each of them once.
        flushed (set of str): Names of float values known not to be
            subnormal; ``.ftz`` operations need not flush them again.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declares: dict[str, str] = {}
        self.flushed: set[str] = set()
        self._next = 0
        self._carry = 'false'

    def name(self, hint: str = 't') -> str:
        """Returns a new local name."""
        self._next += 1
        return f'%{hint}.{self._next}'

    def inst(self, text: str) -> str:
        """Emits ``%new = text`` and returns the new name."""
        name = self.name()
        self.lines.append(f'  {name} = {text}')
        return name

    def stmt(self, text: str) -> None:
        """Emits an instruction that has no result."""
        self.lines.append(f'  {text}')

    def label(self, hint: str) -> str:
        """Returns a new label name, without ``%``; see :meth:`start`."""
        return self.name(hint)[1:]

    def start(self, label: str) -> None:
        """Starts the basic block ``label``; the last one must be closed."""
        self.lines.append(f'{label}:')

    def call(self, ret: str, func: str,
             args: Sequence[tuple[str, str]] = ()) -> str:
        """Calls an external function or intrinsic, declaring it on the way.

        Args:
            ret (str): LLVM return type; with ``'void'`` the empty string is
                returned.
            func (str): Name without ``@``.
            args: Pairs of LLVM type and value.
        """
        types = ', '.join(t for t, _ in args)
        self.declares[func] = f'declare {ret} @{func}({types})'
        values = ', '.join(f'{t} {v}' for t, v in args)
        text = f'call {ret} @{func}({values})'
        if ret == 'void':
            self.stmt(text)
            return ''
        return self.inst(text)

    def cast(self, op: str, value: str, src: str, dst: str) -> str:
        """Emits a conversion instruction, or nothing when types agree."""
        if src == dst:
            return value
        return self.inst(f'{op} {src} {value} to {dst}')

    def select(self, cond: str, llvm: str, a: str, b: str) -> str:
        return self.inst(f'select i1 {cond}, {llvm} {a}, {llvm} {b}')

    def get_carry(self) -> str:
        """Returns the carry flag ``CC.CF``, an ``i1``."""
        return self._carry

    def set_carry(self, value: str) -> None:
        """Sets the carry flag (carry-out, or borrow-out) to an ``i1``."""
        self._carry = value
