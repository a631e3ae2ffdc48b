"""Picks the part of a module's text that one kernel depends on."""
from __future__ import annotations

import re

from cupy_backends.host.ptx import layout
from cupy_backends.host.ptx import parser
from cupy_backends.host.ptx import syntax

_WORD = re.compile(r'[A-Za-z_%$][\w$]*')


def relevant_text(table: parser.SymbolTable, arena: layout.Arena,
                  name: str) -> str:
    """Returns a text that decides how a kernel is translated.

    It holds the kernel, the functions it uses, and declaration and place of
    the variables it uses; where they stand in the module as well, because
    error messages name lines.

    Args:
        table (SymbolTable): The module.
        arena (Arena): Layout of its variables.
        name (str): Name of a kernel.
    """
    parts: list[str] = []
    seen: set[str] = set()
    left = [name]
    while left:
        word = left.pop()
        if word in seen:
            continue
        seen.add(word)
        if word in table.functions:
            function = table.functions[word]
            text = _function_text(table, function)
            parts.append(f'{table.line(function.pos)}:{text}')
            left += sorted(set(_WORD.findall(text)) - seen)
        elif word in table.variables:
            parts.append(_place(arena, table.variables[word]))
    # The order of discovery depends on names only.
    return '\n'.join(parts)


def _function_text(table: parser.SymbolTable,
                   function: syntax.Function) -> str:
    end = function.end or table.text.index(';', function.pos)
    return table.text[function.pos:end]


def _place(arena: layout.Arena, variable: syntax.Variable) -> str:
    place = arena.offsets.get(variable.name)
    return f'{variable._replace(init="", pos=0)} at {place}'
