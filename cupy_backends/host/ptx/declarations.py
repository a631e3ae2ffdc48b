"""Reads variable and parameter declarations.

Source: PTX ISA, sections "State Spaces, Types, and Variables" and
"Initializers".
"""
from __future__ import annotations

import re

from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import syntax

# A parameter may name the space it points to after its own (.ptr .global).
SPACES = ('param', 'reg', 'global', 'const', 'shared', 'local')
_LINKAGES = ('extern', 'common', 'weak', 'visible')

_DIRECTIVE = re.compile(
    r'\s*\.(\w+)(?:::\w+)?(?:\([^)]*\))?(?:\s+(\d+)(?=\s))?')
_DECLARATOR = re.compile(
    r'\s*([\w$%]+)\s*((?:\[[^\]]*\]\s*)*)(?:<(\d+)>\s*)?')


def parse(text: str, pos: int, source: str) -> list[syntax.Variable]:
    """Reads one declaration statement, without its semicolon.

    Args:
        text (str): For example ``'.global .align 8 .b8 t[16] = {1, 2}'``.
        pos (int): Its offset in ``source``.
        source (str): Text of the module, for line numbers.

    Returns:
        list of Variable: One for each declared name.  A register range
        ``%r<4>`` is returned as one variable with ``length`` 4 and
        ``linkage`` ``'range'``.
    """
    words, end = _directives(text)
    kind = _element_type(words, pos, source)
    space = next((s for s in SPACES if s in words), 'param')
    # After .ptr, .align speaks of what the pointer points to.
    align = 'ptr' not in words and words.get('align', 0)
    align = align or kind.size * _lanes(words)
    linkage = next((s for s in _LINKAGES if s in words), '')
    found = []
    for name, dims, times, init in _declarators(text[end:], pos, source):
        count = _lanes(words) * _element_count(dims)
        if count < 0 and init:
            count = init.count(',') + 1
        found.append(syntax.Variable(
            name, space, kind, align, times or count, init,
            'range' if times else linkage, pos))
    return found


def _directives(text: str) -> tuple[dict[str, int], int]:
    """Returns the leading dot words with their numbers, and the rest."""
    words: dict[str, int] = {}
    end = 0
    while match := _DIRECTIVE.match(text, end):
        words[match[1]] = int(match[2] or 0)
        end = match.end()
    return words, end


def _element_type(words: dict[str, int], pos: int,
                  source: str) -> dtypes.PTXType:
    for word in words:
        if word in dtypes.TYPES:
            return dtypes.TYPES[word]
    raise errors.PTXSyntaxError(
        f'a declaration without a known type: .{" .".join(words)}',
        syntax.line_of(source, pos))


def _lanes(words: dict[str, int]) -> int:
    return 4 if 'v4' in words else 2 if 'v2' in words else 1


def _element_count(dims: str) -> int:
    """Returns the product of array dimensions, -1 for ``[]``."""
    count = 1
    for dim in re.findall(r'\[([^\]]*)\]', dims):
        if not dim.strip():
            return -1
        count *= int(dim, 0)
    return count


def _declarators(text: str, pos: int, source: str) -> list[
        tuple[str, str, int, str]]:
    """Splits ``a, b[4] = {1}, %r<8>`` into name, dims, range and init."""
    found = []
    at = 0
    while match := _DECLARATOR.match(text, at):
        at = match.end()
        init = ''
        if text[at:at + 1] == '=':
            init, at = _initialiser(text, at + 1)
        found.append((match[1], match[2], int(match[3] or 0), init))
        if text[at:at + 1] != ',':
            break
        at += 1
    if text[at:].strip():
        raise errors.PTXSyntaxError(
            f'cannot read the declaration "{text.strip()[:60]}"',
            syntax.line_of(source, pos))
    return found


def _initialiser(text: str, at: int) -> tuple[str, int]:
    """Returns an initialiser and where it ends; commas inside nest."""
    depth = 0
    for end in range(at, len(text)):
        char = text[end]
        if char in '{(':
            depth += 1
        elif char in '})':
            depth -= 1
        elif char == ',' and not depth:
            return text[at:end].strip(), end
    return text[at:].strip(), len(text)
