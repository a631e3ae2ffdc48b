"""Applies anchored edits to texts and trees; :mod:`._edits` describes them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cupy_overlay import _edits
from cupy_overlay import _source

# What a tree has been given already, by file: removals leave no other trace
# that a second run could recognise.
RECORD = '.cupy-overlay-edits.json'


@dataclasses.dataclass
class _Body:
    """A block of statements, and the physical lines that hold it."""

    statements: list[_source.Statement]
    indent: int
    first: int
    end: int


def apply(text: str, edit: _edits.Edit, *, fresh: bool = False) -> str:
    """Returns the text of a file with one edit applied.

    Args:
        text: the file's text.
        edit: the edit.
        fresh: the text is upstream's, so an edit that finds its own text
            there is an error instead of done already.
    """
    lines = text.split('\n')
    body = _find_body(edit, text)
    if edit.action == 'add_to_list':
        return _add_to_list(edit, lines, body, fresh)
    wanted = _render(edit, body.indent)
    places = _places(lines, body, wanted) if wanted else []
    anchor = _anchor(edit, body, places, len(wanted))
    if places:
        if fresh:
            raise edit.error('its text is in the file already, at line '
                             f'{places[0] + 1}')
        return text
    assert anchor is not None or edit.action in _edits.SCOPED
    start, stop = _span(edit, body, anchor)
    if not wanted and not any(map(str.strip, lines[start - 1:start]
                                  + lines[stop:stop + 1])):
        stop += 1  # of the blank lines around what is removed, one stays
    lines[start:stop] = _spaced(lines, start, stop, wanted, body.indent)
    return '\n'.join(lines)


def _find_body(edit: _edits.Edit, text: str) -> _Body:
    found = _source.statements(text)
    body = _Body(found, found[0].indent if found else 0, 0,
                 found[-1].end if found else 0)
    for name in filter(None, edit.scope.split('.')):
        matches = [s for s in _definitions(body.statements) if s.name == name]
        body = _block(edit, matches, f'definition of {name!r}')
    for words in edit.inside:
        matches = [s for s in _matching(body.statements, words) if s.body]
        body = _block(edit, matches, f'block with {list(words)}')
    return body


def _definitions(found: Iterable[_source.Statement]) \
        -> Iterable[_source.Statement]:
    """Definitions in a body, those below ``if``, ``try``, … included."""
    for statement in found:
        if statement.name is not None:
            yield statement
        else:
            yield from _definitions(statement.body)


def _block(edit: _edits.Edit, matches: list[_source.Statement],
           what: str) -> _Body:
    if len(matches) != 1:
        raise edit.error(f'{_count(len(matches))} {what}'
                         + _where(matches) + '; exactly one is needed')
    body = matches[0].body
    return _Body(body, body[0].indent, matches[0].header.end, body[-1].end)


def _anchor(edit: _edits.Edit, body: _Body, places: list[int], size: int) \
        -> _source.Statement | None:
    """The statement that the edit names, outside its own text."""
    if edit.action in _edits.SCOPED:
        return None
    own = {row for place in places for row in range(place, place + size)}
    matches = [s for s in _matching(body.statements, edit.statement)
               if s.header.first not in own]
    if len(matches) == 1 or (places and not matches
                             and edit.action == 'replace'):
        return matches[0] if matches else None
    scope = edit.scope or 'the module'
    raise edit.error(
        f'{_count(len(matches))} statement with {list(edit.statement)} in '
        f'{scope}{_where(matches)}; exactly one is needed')


def _matching(found: Iterable[_source.Statement], words: Sequence[str]) \
        -> list[_source.Statement]:
    return [s for s in found if not s.is_string
            and all(_contains(s.code, word) for word in words)]


def _contains(code: str, word: str) -> bool:
    return re.search(_pattern(word), code) is not None


def _pattern(word: str) -> str:
    """Matches a word or words, not as parts of longer identifiers."""
    word = ' '.join(word.split())
    before = r'(?<!\w)' if re.match(r'\w', word) else ''
    after = r'(?!\w)' if re.search(r'\w$', word) else ''
    return before + re.escape(word) + after


def _count(number: int) -> str:
    return 'no' if number == 0 else str(number)


def _where(matches: Sequence[_source.Statement]) -> str:
    rows = ', '.join(str(s.header.first + 1) for s in matches)
    return f' (lines {rows})' if rows else ''


def _render(edit: _edits.Edit, indent: int) -> list[str]:
    text = textwrap.dedent(edit.text).strip('\n')
    lines = textwrap.indent(text, ' ' * indent).split('\n')
    return [line.rstrip() for line in lines] if text else []


def _places(lines: list[str], body: _Body, wanted: list[str]) -> list[int]:
    """Rows of the body where the wanted lines stand already."""
    size = len(wanted)
    last = min(body.end, len(lines)) - size
    return [row for row in range(body.first, last + 1)
            if lines[row:row + size] == wanted]


def _span(edit: _edits.Edit, body: _Body, anchor: _source.Statement | None) \
        -> tuple[int, int]:
    """The physical lines that the text replaces; empty to insert."""
    if anchor is None:
        row = body.end if edit.action == 'append_to_scope' else _head(body)
        return row, row
    if edit.action == 'insert_before':
        return anchor.first, anchor.first
    if edit.action == 'insert_after':
        return anchor.end, anchor.end
    return anchor.first, anchor.end


def _head(body: _Body) -> int:
    """The row behind a docstring and ``from __future__`` lines."""
    row = body.first
    for index, statement in enumerate(body.statements):
        docstring = index == 0 and statement.is_string
        if docstring or statement.code.startswith('from __future__'):
            row = statement.end
        else:
            # Keeps `# distutils:` and licence comments at the top.
            return row if row > body.first else statement.first
    return row


def _spaced(lines: list[str], start: int, stop: int, wanted: list[str],
            indent: int) -> list[str]:
    """The wanted lines, with blank lines around definitions."""
    if not wanted:
        return []
    gap = [''] * (1 if indent else 2)
    result = list(wanted)
    above = [line for line in lines[:start] if line.strip()]
    if above and _defines(wanted) and not _opens(above[-1]):
        result = gap[_blanks(lines[:start][::-1]):] + result
    below = lines[stop:]
    if any(line.strip() for line in below) and not _decorates(wanted) and (
            _defines(wanted) or _starts_definition(below)):
        result += gap[_blanks(below):]
    return result


def _defines(lines: list[str]) -> bool:
    found = _source.statements('\n'.join(lines))
    return any(s.name is not None for s in (found[0], found[-1]))


def _starts_definition(lines: list[str]) -> bool:
    return re.match(r'\s*(@|def\b|class\b|cdef class\b|cpdef\b|async def\b)',
                    lines[0]) is not None


def _decorates(lines: list[str]) -> bool:
    return lines[-1].lstrip().startswith('@')


def _opens(line: str) -> bool:
    return line.rstrip().endswith(':')


def _blanks(lines: Iterable[str]) -> int:
    count = 0
    for line in lines:
        if line.strip():
            break
        count += 1
    return count


def _add_to_list(edit: _edits.Edit, lines: list[str], body: _Body,
                 fresh: bool) -> str:
    anchor = _anchor(edit, body, [], 0)
    assert anchor is not None
    first, end = anchor.header.first, anchor.end
    element = edit.text.strip().rstrip(',')
    source = '\n'.join(lines[first:end])
    if re.search(_pattern(element), source):
        if fresh:
            raise edit.error(f'the list holds {element} already')
        return '\n'.join(lines)
    found = list(re.finditer(_pattern(edit.neighbour) + r'\s*,', source))
    if len(found) != 1:
        raise edit.error(f'{_count(len(found))} element {edit.neighbour} '
                         'followed by a comma in the list; exactly one is '
                         'needed')
    source = _insert_element(source, found[0], element)
    return '\n'.join(lines[:first] + source.split('\n') + lines[end:])


def _insert_element(source: str, neighbour: re.Match[str], element: str) \
        -> str:
    row_start = source.rfind('\n', 0, neighbour.start()) + 1
    before = source[row_start:neighbour.start()]
    rest = source[neighbour.end():].split('\n', 1)[0]
    alone = not before.strip() and not rest.split('#')[0].strip()
    at = neighbour.end() + (len(rest) if alone else 0)
    joint = f'\n{before}{element},' if alone else f' {element},'
    return source[:at] + joint + source[at:]


# Trees -----------------------------------------------------------------------

def edit_texts(texts: Mapping[str, str], edits: Sequence[_edits.Edit], *,
               fresh: bool = False) -> dict[str, str]:
    """Applies edits to texts by file name; returns those that changed.

    Nothing is returned before every edit has found its place.
    """
    results: dict[str, str] = {}
    for edit in edits:
        if edit.file not in texts:
            raise edit.error('no such file in the source distribution')
        text = results.get(edit.file, texts[edit.file])
        results[edit.file] = apply(text, edit, fresh=fresh)
    return {file: text for file, text in results.items()
            if text != texts[file]}


def apply_all(root: Path, edits: Sequence[_edits.Edit]) -> list[str]:
    """Applies edits to the files of a source tree, once.

    Returns:
        The paths, relative to ``root``, that were changed now.
    """
    record = _read_record(root)
    own = {file: [e for e in edits if e.file == file]
           for file in dict.fromkeys(edit.file for edit in edits)}
    texts = {file: _read(root, group[0]) for file, group in own.items()}
    pending = [e for e in edits if record.get(e.file)
               != [_digest(repr(own[e.file])), _digest(texts[e.file])]]
    changed = edit_texts(texts, pending)
    for file, text in changed.items():
        (root / file).write_text(text, 'utf-8')
    texts.update(changed)
    record = {file: [_digest(repr(group)), _digest(texts[file])]
              for file, group in own.items()}
    (root / RECORD).write_text(json.dumps(record, indent=1), 'utf-8')
    return list(changed)


def _read(root: Path, edit: _edits.Edit) -> str:
    path = root / edit.file
    if not path.is_file():
        raise edit.error(f'no such file in {root}')
    return path.read_text('utf-8')


def _read_record(root: Path) -> dict[str, list[str]]:
    path = root / RECORD
    if not path.is_file():
        return {}
    record: dict[str, list[str]] = json.loads(path.read_text('utf-8'))
    return record


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
