"""What the parser produces: plain records without behaviour.

A position (``pos``) is an offset into the text of the module;
:func:`line_of` turns it into a line number when a message needs one.
"""
from __future__ import annotations

from typing import NamedTuple

from cupy_backends.host.ptx import dtypes


class Variable(NamedTuple):
    """A variable, parameter or array declaration.

    Attributes:
        name (str): Name, unique within its function or module.
        space (str): State space: ``'global'``, ``'const'``, ``'shared'``,
            ``'local'`` or ``'param'``.
        type (PTXType): Type of an element.
        align (int): Alignment in bytes.
        length (int): Number of elements; -1 for an array without a size.
        init (str): Initialiser as written, or the empty string.
        linkage (str): ``'extern'``, ``'common'``, ``'weak'``, ``'visible'``
            or the empty string.
        pos (int): Where it is declared.
    """

    name: str
    space: str
    type: dtypes.PTXType
    align: int
    length: int
    init: str
    linkage: str
    pos: int

    @property
    def size(self) -> int:
        """Size in bytes; 0 for an array without a size."""
        return self.type.size * max(0, self.length)

    @property
    def is_declaration(self) -> bool:
        return self.linkage == 'extern'


class Function(NamedTuple):
    """A kernel (``.entry``) or device function (``.func``).

    Attributes:
        name (str): Name.
        is_entry (bool): Whether it is a kernel.
        rets, params (tuple of Variable): Space ``'param'``, or ``'reg'``
            for register parameters.
        attributes (dict): Numbers of directives such as ``'maxntid'``.
        start, end (int): The body's text without its braces; both 0 for a
            declaration without a body.
        linkage (str): ``'extern'``, ``'weak'``, ``'visible'`` or the empty
            string.
        pos (int): Where it is declared.
    """

    name: str
    is_entry: bool
    rets: tuple[Variable, ...]
    params: tuple[Variable, ...]
    attributes: dict[str, tuple[int, ...]]
    start: int
    end: int
    linkage: str
    pos: int

    @property
    def is_declaration(self) -> bool:
        return self.end == 0


class Inst(NamedTuple):
    """One instruction.

    Attributes:
        opcode (str): Opcode with modifiers, such as ``'add.s32'``.
        args (tuple of str): Operands as written, blanks removed.
        pred (str): Guard predicate register, or the empty string.
        negated (bool): Whether the guard is ``@!p``.
        pos (int): Where it stands.
    """

    opcode: str
    args: tuple[str, ...]
    pred: str
    negated: bool
    pos: int

    def __str__(self) -> str:
        guard = f'@{"!" * self.negated}{self.pred} ' if self.pred else ''
        return f'{guard}{self.opcode} {", ".join(self.args)}'.rstrip()


class Label(NamedTuple):
    """A branch target; ``inst`` of a block starts after it."""

    name: str
    pos: int


class Body:
    """The parsed body of a function.

    Attributes:
        items (list of Inst and Label): In program order.
        regs (dict): PTX type of each register.
        variables (dict): Variables declared inside, by (unique) name.
        targets (dict): Label lists of ``.branchtargets``, by name.
    """

    def __init__(self) -> None:
        self.items: list[Inst | Label] = []
        self.regs: dict[str, dtypes.PTXType] = {}
        self.variables: dict[str, Variable] = {}
        self.targets: dict[str, tuple[str, ...]] = {}


def line_of(text: str, pos: int) -> int:
    """Returns the line number, from 1, of an offset into ``text``."""
    return text.count('\n', 0, pos) + 1
