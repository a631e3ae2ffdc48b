"""The table of PTX instructions: patterns as data, meaning beside them.

An instruction family is registered once::

    @op('add{.ftz}.T d, a, b', T=('f32',))
    def add(b, i, x, y):
        return b.inst(f'fadd {i.T.llvm} {x}, {y}')

``{.mod}`` is an optional modifier, ``{.A|B}`` a choice that may be absent,
and a name in capitals stands for each entry of the keyword of that name.
An operand is ``name`` (of type ``T``), ``name:TYPE`` with a PTX type, or
``name:W`` for the type of twice the width of ``T``, or ``name:D`` and the
like for another capital name.  The first operand is the destination unless
the pattern starts with ``-`` (no destination); a second one is written
``d|p:pred``.

The function receives the :class:`~.builder.Builder`, the matched
:class:`Form` and the source operands as LLVM values of their types, and
returns the destination value, or a tuple when there are two.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import itertools
import re
from typing import Any, NamedTuple, TypeVar

from cupy_backends.host.ptx import dtypes

Function = Callable[..., Any]
F = TypeVar('F', bound=Function)


class Form(NamedTuple):
    """One spelled-out instruction form.

    Attributes:
        opcode (str): Full opcode, such as ``'add.ftz.f32'``.
        mods (frozenset of str): The optional modifiers that are present.
        vars (dict): Value of each capital name of the pattern.
        dests, srcs (tuple of PTXType): Operand types.
        function: Emits the code.
        section (str): Section of the PTX ISA that defines it.
    """

    opcode: str
    mods: frozenset[str]
    vars: dict[str, str]
    dests: tuple[dtypes.PTXType, ...]
    srcs: tuple[dtypes.PTXType, ...]
    function: Function
    section: str

    @property
    def T(self) -> dtypes.PTXType:
        """The type of the instruction (the capital name ``T``)."""
        return dtypes.TYPES[self.vars['T']]

    @property
    def ftz(self) -> bool:
        """Whether subnormal inputs and results are flushed to zero."""
        return 'ftz' in self.mods

    @property
    def sat(self) -> bool:
        return 'sat' in self.mods


class Family(NamedTuple):
    """Instructions whose operands are more than values.

    Memory accesses, atomics and the like see the writer and the operands
    as text, because an address is not a value of a type.

    Attributes:
        function: Called with the writer and the instruction.
        has_dest (bool): Whether the first operand is written.
        summary (str): What is supported, for the coverage page.
        section (str): Section of the PTX ISA that defines it.
    """

    function: Function
    has_dest: bool
    summary: str
    section: str


class Entry(NamedTuple):
    """A registration, as written; for the coverage page.

    Attributes:
        pattern (str): See the module's docstring.
        names (dict): What each capital name of the pattern stands for.
        section (str): Section of the PTX ISA that defines the family.
    """

    pattern: str
    names: dict[str, Sequence[str]]
    section: str


TABLE: dict[str, Form] = {}
ENTRIES: list[Entry] = []
FAMILIES: dict[str, Family] = {}


def op(pattern: str, section: str = '',
       **names: Sequence[str]) -> Callable[[F], F]:
    """Registers an instruction family; see the module's docstring.

    Raises:
        ValueError: A spelled-out form is registered twice.
    """
    def register(function: F) -> F:
        head, _, operands = pattern.partition(' ')
        dest_names, src_names = _operands(operands)
        for opcode, mods, values in _expand(head, names):
            if opcode in TABLE:
                raise ValueError(f'{opcode} is registered twice')
            TABLE[opcode] = Form(
                opcode, mods, values, _types(dest_names, values),
                _types(src_names, values), function, section)
        ENTRIES.append(Entry(pattern, names, section))
        return function
    return register


def family(mnemonic: str, summary: str, section: str = '', *,
           has_dest: bool) -> Callable[[Function], Function]:
    """Registers the function for all instructions of a mnemonic.

    Raises:
        ValueError: The mnemonic is registered twice.
    """
    def register(function: F) -> F:
        if mnemonic in FAMILIES:
            raise ValueError(f'{mnemonic} is registered twice')
        FAMILIES[mnemonic] = Family(function, has_dest, summary, section)
        return function
    return register


def _expand(head: str, names: dict[str, Sequence[str]]) -> Iterator[
        tuple[str, frozenset[str], dict[str, str]]]:
    """Yields every opcode that the pattern ``head`` stands for."""
    parts = re.findall(r'\{\.([^}]*)\}|([^.{}]+)', head)
    choices = [_choices(optional, fixed, names) for optional, fixed in parts]
    for combination in itertools.product(*choices):
        opcode = '.'.join(text for text, _, _ in combination if text)
        mods = frozenset(m for _, m, _ in combination if m)
        values = {var: text for text, _, var in combination if var}
        yield opcode, mods, values


def _choices(optional: str, fixed: str, names: dict[str, Sequence[str]]
             ) -> list[tuple[str, str, str]]:
    """Returns the (text, modifier, variable) alternatives of one part."""
    if not optional:
        if fixed in names:
            return [(text, '', fixed) for text in names[fixed]]
        return [(fixed, '', '')]
    found = [('', '', '')]
    for word in optional.split('|'):
        if word in names:
            found += [(text, text, word) for text in names[word]]
        else:
            found.append((word, word, ''))
    return found


def _operands(text: str) -> tuple[list[str], list[str]]:
    """Returns the destinations' and the sources' type names, as written."""
    words = [w.strip() for w in text.split(',') if w.strip()]
    if not words or words[0].startswith('-'):
        return [], [_type_name(w) for w in words if w != '-']
    dests = [_type_name(w) for w in words[0].split('|')]
    return dests, [_type_name(w) for w in words[1:]]


def _type_name(word: str) -> str:
    return word.lstrip('- ').partition(':')[2] or 'T'


def _types(names: list[str], values: dict[str, str]
           ) -> tuple[dtypes.PTXType, ...]:
    return tuple([
        dtypes.TYPES[dtypes.wider(values['T'])] if name == 'W'
        else dtypes.TYPES[values.get(name, name)] for name in names])
