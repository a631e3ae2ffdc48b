"""Reads the symbol table of a PTX module; bodies are left for later.

A module may hold hundreds of kernels of which one is wanted, so a body is
only skipped here by counting braces; see :mod:`body` for the rest.
"""
from __future__ import annotations

import re

from cupy_backends.host.ptx import declarations
from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import syntax

# Strings first, so that a comment sign inside one does not count.
_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LINE_DIRECTIVE = re.compile(
    r'\s*(?:\.(?:version|target|address_size|file|loc)\b[^\n]*(?:\n|$))?')
_STOP = re.compile(r'[;{=]')
_BRACE = re.compile(r'[{}]')
_FUNCTION = re.compile(r'(?:\.(extern|weak|visible)\s+)?\.(entry|func)\b')
_SECTION = re.compile(r'\s*\.section\b')
_NAME = re.compile(r'\s*([\w$%.]+)\s*')
_ATTRIBUTE = re.compile(r'\.(\w+)\s+(\d+(?:\s*,\s*\d+)*)')


class SymbolTable:
    """Everything that a module declares.

    Attributes:
        text (str): The module without comments, line numbers kept.
        functions (dict): By name; a definition wins over a declaration, and
            over a weak definition.
        variables (dict): Module-scope variables by name, by the same rule.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.functions: dict[str, syntax.Function] = {}
        self.variables: dict[str, syntax.Variable] = {}

    def line(self, pos: int) -> int:
        return syntax.line_of(self.text, pos)

    def add_function(self, function: syntax.Function) -> None:
        old = self.functions.get(function.name)
        if old is None or _rank(old) < _rank(function):
            self.functions[function.name] = function

    def add_variable(self, variable: syntax.Variable) -> None:
        old = self.variables.get(variable.name)
        if old is None or _rank(old) < _rank(variable):
            self.variables[variable.name] = variable


def _rank(symbol: syntax.Function | syntax.Variable) -> int:
    """Returns which of several symbols of one name wins: the highest."""
    if symbol.is_declaration:
        return 0
    return 1 if symbol.linkage in ('weak', 'common') else 2


def parse_module(text: str) -> SymbolTable:
    """Reads all declarations of a module.

    Args:
        text (str): PTX text; a trailing NUL is tolerated.

    Raises:
        PTXSyntaxError: The text is not PTX.
    """
    table = SymbolTable(_strip_comments(text.rstrip('\0')))
    pos = _skip_blank(table.text, 0)
    while pos < len(table.text):
        pos = _skip_blank(table.text, _statement(table, pos))
    return table


def _strip_comments(text: str) -> str:
    def blank(match: re.Match[str]) -> str:
        found = match[0]
        if found[0] == '"':
            return found
        return '\n' * found.count('\n') or ' '
    return _COMMENT.sub(blank, text)


def _skip_blank(text: str, pos: int) -> int:
    """Skips blanks and directives that end with their line."""
    while True:
        match = _LINE_DIRECTIVE.match(text, pos)
        assert match is not None
        if match.end() == pos:
            return pos
        pos = match.end()


def _statement(table: SymbolTable, pos: int) -> int:
    """Reads one top-level statement and returns where it ends."""
    text = table.text
    stop = _STOP.search(text, pos)
    if stop is None:
        raise errors.PTXSyntaxError(
            f'cannot read "{text[pos:pos + 40].strip()}"', table.line(pos))
    head = text[pos:stop.start()]
    if _SECTION.match(head):
        return _closing_brace(table, stop.start()) + 1
    if _FUNCTION.search(head):
        return _function(table, pos, stop.start())
    end = text.find(';', stop.start())
    if end < 0:
        raise errors.PTXSyntaxError(
            'a declaration without semicolon', table.line(pos))
    if head.lstrip().startswith(('.alias', '.pragma')):
        return end + 1
    for variable in declarations.parse(text[pos:end], pos, text):
        table.add_variable(variable)
    return end + 1


def _closing_brace(table: SymbolTable, start: int) -> int:
    """Returns the offset of the brace that closes the one at ``start``."""
    depth = 0
    for match in _BRACE.finditer(table.text, start):
        depth += 1 if match[0] == '{' else -1
        if not depth:
            return match.start()
    raise errors.PTXSyntaxError(
        'a brace is not closed', table.line(start))


def _function(table: SymbolTable, pos: int, stop: int) -> int:
    """Reads a function from ``pos``; ``stop`` is its ``{`` or ``;``."""
    text = table.text
    start = end = 0
    after = stop + 1
    if text[stop] == '{':
        start, end = stop + 1, _closing_brace(table, stop)
        after = end + 1
    head = text[pos:stop]
    kind = _FUNCTION.search(head)
    assert kind is not None
    rets, at = _parameters(table, head, kind.end(), pos)
    name = _NAME.match(head, at)
    if name is None:
        raise errors.PTXSyntaxError('a function without name',
                                    table.line(pos))
    params, at = _parameters(table, head, name.end(), pos)
    attributes = {
        match[1]: tuple(int(n) for n in match[2].split(','))
        for match in _ATTRIBUTE.finditer(head, at)}
    table.add_function(syntax.Function(
        name[1], kind[2] == 'entry', rets, params, attributes,
        start, end, kind[1] or '', pos))
    return after


def _parameters(table: SymbolTable, head: str, at: int, pos: int) -> tuple[
        tuple[syntax.Variable, ...], int]:
    """Reads a parenthesised list if one starts at ``at``."""
    while head[at:at + 1].isspace():
        at += 1
    if head[at:at + 1] != '(':
        return (), at
    end = head.index(')', at)
    found: list[syntax.Variable] = []
    for word in head[at + 1:end].split(','):
        if word.strip():
            found += declarations.parse(word, pos + at, table.text)
    return tuple(found), end + 1
