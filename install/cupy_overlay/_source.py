"""The statements of a Python or Cython source file, found by indentation.

``ast`` cannot read Cython, so this scanner only knows what both languages
share: logical lines (brackets, triple quotes, backslashes), indentation,
and the clauses that continue a compound statement (``else``, ``except``…).
It never changes anything; :mod:`cupy_overlay._edits` does.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

_OPENING = '([{'
_CLOSING = ')]}'
_STRING_START = re.compile(r'\w{0,2}("""|\'\'\'|"|\')')
_CLAUSE = re.compile(r'(elif|else|except|finally|ELIF|ELSE)\b')
_CLASS = re.compile(r'(?:\w+\s+)*class\s+(\w+)')
_FUNCTION = re.compile(r'(?:async\s+def|def|cdef|cpdef)\b[^=(]*?(\w+)\s*\(')
_STRING_ONLY = re.compile(r'\s*[rbuRBU]{0,2}["\']')


@dataclasses.dataclass
class Line:
    """A logical line: physical lines ``first`` to ``end`` (exclusive).

    ``code`` is its text without comments and with strings kept; ``bare``
    is the same with the contents of strings left out.
    """

    first: int
    end: int
    indent: int
    code: str
    bare: str


@dataclasses.dataclass
class Statement:
    """A statement with all its clauses and nested blocks.

    ``first`` counts the comment lines and decorators directly above it;
    ``end`` is exclusive. Both are indices of physical lines.
    """

    lines: list[Line]
    first: int
    end: int
    body: list[Statement]

    @property
    def indent(self) -> int:
        return self.lines[0].indent

    @property
    def code(self) -> str:
        """Its text on one line, without comments."""
        return ' '.join(' '.join(li.code for li in self.lines).split())

    @property
    def header(self) -> Line:
        """The line that names it: the first that is no decorator."""
        for line in self.lines:
            if not line.bare.startswith('@'):
                return line
        return self.lines[0]

    @property
    def name(self) -> str | None:
        """The class or function that it defines, if it does."""
        if not self.body:
            return None
        for pattern in (_CLASS, _FUNCTION):
            match = pattern.match(self.header.bare)
            if match:
                return match.group(1)
        return None

    @property
    def is_string(self) -> bool:
        """Whether it is a docstring or another string on its own."""
        return (len(self.lines) == 1
                and _STRING_ONLY.match(self.lines[0].code) is not None
                and not self.lines[0].bare.strip('rbuRBU"\'() '))


class _Scanner:
    """Cuts a text into logical lines; one use each."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pos = 0
        self._row = 0

    def lines(self) -> Iterator[Line]:
        while self._pos < len(self._text):
            line = self._line()
            if line.bare:
                yield line

    def _line(self) -> Line:
        first, start = self._row, self._pos
        code: list[str] = []
        bare: list[str] = []
        depth = 0
        while self._pos < len(self._text):
            char = self._text[self._pos]
            string = _STRING_START.match(self._text, self._pos)
            if string and not self._within_word(code, string):
                piece = self._string(string)
                code.append(piece)
                bare.append(string.group(1)[0] * 2)
            elif char == '#':
                self._pos = self._line_end()
            elif char == '\\' and self._text[self._pos + 1:][:1] == '\n':
                self._advance(2)
                code.append(' ')
                bare.append(' ')
            elif char == '\n':
                self._advance(1)
                if depth == 0:
                    break
                code.append(' ')
                bare.append(' ')
            else:
                depth += (char in _OPENING) - (char in _CLOSING)
                code.append(char)
                bare.append(char)
                self._advance(1)
        indent = _indent(self._text[start:self._pos])
        return Line(first, self._row if self._ended() else self._row + 1,
                    indent, ''.join(code).strip(), ''.join(bare).strip())

    @staticmethod
    def _within_word(code: list[str], string: re.Match[str]) -> bool:
        """Whether what looks like a prefix ends a longer name."""
        prefixed = string.group()[0] not in '"\''
        return prefixed and bool(code) and _is_word(code[-1][-1])

    def _ended(self) -> bool:
        """Whether the last character taken was a newline."""
        return self._pos > 0 and self._text[self._pos - 1] == '\n'

    def _string(self, start: re.Match[str]) -> str:
        quote = start.group(1)
        first, at = self._pos, start.end()
        while at < len(self._text) and not self._text.startswith(quote, at):
            at += 2 if self._text[at] == '\\' else 1
        self._advance(at + len(quote) - first)
        return self._text[first:self._pos]

    def _line_end(self) -> int:
        end = self._text.find('\n', self._pos)
        return len(self._text) if end < 0 else end

    def _advance(self, count: int) -> None:
        end = min(self._pos + count, len(self._text))
        self._row += self._text.count('\n', self._pos, end)
        self._pos = end


def _is_word(char: str) -> bool:
    return char.isalnum() or char == '_'


def _indent(text: str) -> int:
    first = text.split('\n', 1)[0].expandtabs()
    return len(first) - len(first.lstrip(' '))


def logical_lines(text: str) -> list[Line]:
    """The logical lines of a text, blank and comment lines left out."""
    return list(_Scanner(text).lines())


def statements(text: str) -> list[Statement]:
    """The statements at the top level of a text, with their blocks."""
    return _group(logical_lines(text), text.split('\n'))


def _group(lines: list[Line], physical: list[str]) -> list[Statement]:
    """Statements of one block: ``lines`` share their least indentation."""
    groups: list[list[Line]] = []
    level = lines[0].indent if lines else 0
    for line in lines:
        if groups and (line.indent > level or _continues(groups[-1], line)):
            groups[-1].append(line)
        else:
            groups.append([line])
    return [_statement(group, physical) for group in groups]


def _continues(group: list[Line], line: Line) -> bool:
    """Whether a line at block level belongs to the statement before it."""
    decorated = all(li.bare.startswith('@') for li in group)
    return decorated or _CLAUSE.match(line.bare) is not None


def _statement(lines: list[Line], physical: list[str]) -> Statement:
    level = lines[0].indent
    inner = [line for line in lines if line.indent > level]
    body: list[Statement] = []
    # The blocks of the clauses are grouped apart: `else` may be indented
    # differently from the block before it.
    for block in _blocks(lines, level):
        body += _group(block, physical)
    assert len(inner) == sum(len(stmt.lines) for stmt in body)
    return Statement(lines, _with_comments(lines[0], physical),
                     lines[-1].end, body)


def _blocks(lines: list[Line], level: int) -> Iterator[list[Line]]:
    block: list[Line] = []
    for line in lines:
        if line.indent > level:
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _with_comments(line: Line, physical: list[str]) -> int:
    """The first of the comment lines that stand directly above a line."""
    first = line.first
    while first > 0:
        above = physical[first - 1]
        if not above.lstrip().startswith('#') or _indent(above) != line.indent:
            break
        first -= 1
    return first
