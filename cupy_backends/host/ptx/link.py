"""Links PTX modules to one.

Source: PTX ISA, section "Linking Directives".
"""
from __future__ import annotations

from collections.abc import Sequence
import re

from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import parser

# A weak symbol gives way to one of the same name; of several of these, one
# is taken (the symbol table takes the first).
_YIELDING = ('extern', 'weak', 'common')


def link(texts: Sequence[str]) -> str:
    """Returns one PTX text with everything that the given ones declare.

    A symbol that is local to its text is renamed if another text has that
    name too.

    Args:
        texts (sequence of str): PTX texts, at least one.

    Raises:
        PTXSyntaxError: A text is not PTX.
        DuplicateSymbol: Two texts define a symbol that is visible to all.
    """
    if len(texts) == 1:
        return texts[0]
    tables = [parser.parse_module(text) for text in texts]
    symbols = [_linkages(table) for table in tables]
    _check_unique(symbols)
    return '\n'.join(
        _rename(table.text, _clashes(symbols, number), f'$link{number}')
        for number, table in enumerate(tables))


def _linkages(table: parser.SymbolTable) -> dict[str, str]:
    """Returns the linking directive of each symbol, '' for a local one."""
    found = {variable.name: variable.linkage
             for variable in table.variables.values()}
    for function in table.functions.values():
        # A kernel is called from outside, with directive or without.
        found[function.name] = (
            'extern' if function.is_declaration else
            function.linkage or ('visible' if function.is_entry else ''))
    return found


def _check_unique(symbols: Sequence[dict[str, str]]) -> None:
    seen: set[str] = set()
    for linkages in symbols:
        strong = {name for name, linkage in linkages.items()
                  if linkage and linkage not in _YIELDING}
        if again := sorted(seen & strong):
            raise errors.DuplicateSymbol(
                f'{again[0]} is defined in two of the texts to link')
        seen |= strong


def _clashes(symbols: Sequence[dict[str, str]], number: int) -> list[str]:
    """Returns the local symbols of a text whose names others have too."""
    others = set().union(
        *symbols[:number], *symbols[number + 1:])
    return [name for name, linkage in symbols[number].items()
            if not linkage and name in others]


def _rename(text: str, names: Sequence[str], suffix: str) -> str:
    if not names:
        return text
    words = '|'.join(map(re.escape, names))
    return re.sub(rf'(?<![\w$%])({words})(?![\w$])',
                  lambda match: match[0] + suffix, text)
