r"""Anchored edits of upstream's source files.

``edits/series`` lists the edit files in order, one name a line (``#`` starts
a comment). Each file is TOML and holds ``[[edit]]`` tables:

``name``
    unique, says what the edit does.
``why``
    one sentence for the reader.
``kind``
    ``upstream`` (could be merged there), ``build`` (needed to build the
    fork) or ``fork`` (stays here).
``file``
    path in the source distribution.
``scope``
    dotted path of classes and functions, e.g. ``ufunc.__call__``; empty or
    absent: the module. Definitions below ``if``, ``try``, … are found too.
``inside``
    optional: what the compound statement in the scope contains whose block
    is meant instead of the scope's body; a list of lists nests.
``statement``
    a string or a list of strings; the one statement wanted, directly in that
    body, contains all of them: whole words (``out`` does not match
    ``output``), strings included, comments and docstrings not, white space
    of any length alike. Nested blocks and all clauses (``elif``, ``else``,
    ``except`` …) count as part of the statement.
``action``
    ``insert_before``, ``insert_after``, ``replace``, ``remove`` (a statement,
    with the comments directly above it), ``append_to_scope`` and
    ``prepend_to_scope`` (no ``statement``; after the docstring and
    ``from __future__`` lines), ``add_to_list`` (``neighbour`` is an element
    of the list literal in the statement; ``text`` goes behind it).
``text``
    our own lines, indented relative to the body. Never a line of upstream.

An anchor that is not found exactly once raises :class:`EditError` with the
edit's name and file. Applying edits to a tree that has them changes nothing.

Example::

    [[edit]]
    name = 'ufunc-asks-overrides'
    why = 'Operands with __array_ufunc__ take over (NEP 13).'
    kind = 'upstream'
    file = 'cupy/_core/_kernel.pyx'
    scope = 'ufunc.__call__'
    statement = ['hasattr', '__cupy_override_elementwise_kernel__']
    action = 'replace'
    text = '''
    result = _ufunc_override.ask(self, args, kwargs)
    if result is not NotImplemented:
        return result
    '''
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cupy_overlay import _source
from cupy_overlay import _toml

KINDS = ('upstream', 'build', 'fork')
_ANCHORED = ('insert_before', 'insert_after', 'replace', 'remove',
             'add_to_list')
_SCOPED = ('append_to_scope', 'prepend_to_scope')
ACTIONS = _ANCHORED + _SCOPED
# What the tree has been given already, by file: removals leave no other
# trace that a second run could recognise.
RECORD = '.cupy-overlay-edits.json'


class EditError(Exception):
    """An edit that is not well formed or does not fit its file."""


@dataclasses.dataclass(frozen=True)
class Edit:
    """One change of one upstream file; see the module's docstring."""

    name: str
    why: str
    kind: str
    file: str
    action: str
    scope: str = ''
    inside: tuple[tuple[str, ...], ...] = ()
    statement: tuple[str, ...] = ()
    neighbour: str = ''
    text: str = ''

    def error(self, what: str) -> EditError:
        return EditError(f'edit {self.name!r} of {self.file}: {what}')


def load(folder: Path) -> list[Edit]:
    """Reads the edits that ``folder/series`` lists, in its order.

    Raises:
        EditError: a file or field is missing, unknown or doubled.
    """
    edits: list[Edit] = []
    for name in series(folder):
        path = folder / name
        if not path.is_file():
            raise EditError(f'{folder / "series"} lists {name}, which is '
                            'not there')
        tables = _toml.load(path).get('edit', [])
        edits += [parse(table, path.name) for table in tables]
    names = [edit.name for edit in edits]
    for edit in edits:
        if names.count(edit.name) > 1:
            raise edit.error('this name is used more than once')
    return edits


def series(folder: Path) -> list[str]:
    """The file names in ``folder/series``."""
    lines = (folder / 'series').read_text('utf-8').splitlines()
    stripped = (line.split('#', 1)[0].strip() for line in lines)
    return [line for line in stripped if line]


def parse(table: dict[str, Any], origin: str) -> Edit:
    """Checks one ``[[edit]]`` table and makes an :class:`Edit` of it."""
    known = {field.name for field in dataclasses.fields(Edit)}
    label = f'{origin}: edit {table.get("name", "without a name")!r}'
    for key in table:
        if key not in known:
            raise EditError(f'{label}: unknown field {key!r}; known: '
                            + ', '.join(sorted(known)))
    for key in ('name', 'why', 'kind', 'file', 'action'):
        if not table.get(key):
            raise EditError(f'{label}: field {key!r} is missing')
    values = dict(table)
    values['statement'] = _strings(table.get('statement', ()))
    values['inside'] = _nested(table.get('inside', ()))
    edit = Edit(**values)
    _check(edit)
    return edit


def _strings(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _nested(value: Any) -> tuple[tuple[str, ...], ...]:
    if isinstance(value, str) or all(isinstance(v, str) for v in value):
        words = _strings(value)
        return (words,) if words else ()
    return tuple(_strings(v) for v in value)


def _check(edit: Edit) -> None:
    if edit.kind not in KINDS:
        raise edit.error(f'kind {edit.kind!r} is not one of {KINDS}')
    if edit.action not in ACTIONS:
        raise edit.error(f'action {edit.action!r} is not one of {ACTIONS}')
    if bool(edit.statement) != (edit.action in _ANCHORED):
        word = 'needs' if edit.action in _ANCHORED else 'takes no'
        raise edit.error(f'action {edit.action} {word} statement')
    if bool(edit.text.strip()) == (edit.action == 'remove'):
        word = 'takes no' if edit.action == 'remove' else 'needs'
        raise edit.error(f'action {edit.action} {word} text')
    if bool(edit.neighbour) != (edit.action == 'add_to_list'):
        raise edit.error('neighbour belongs to add_to_list, which needs it')


# Applying ------------------------------------------------------------------

@dataclasses.dataclass
class _Body:
    """A block of statements, and the physical lines that hold it."""

    statements: list[_source.Statement]
    indent: int
    first: int
    end: int


def apply(text: str, edit: Edit, *, fresh: bool = False) -> str:
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
    assert anchor is not None or edit.action in _SCOPED
    start, stop = _span(edit, body, anchor)
    lines[start:stop] = _spaced(lines, start, stop, wanted, body.indent)
    return '\n'.join(lines)


def _find_body(edit: Edit, text: str) -> _Body:
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


def _block(edit: Edit, matches: list[_source.Statement], what: str) -> _Body:
    if len(matches) != 1:
        raise edit.error(f'{_count(len(matches))} {what}'
                         + _where(matches) + '; exactly one is needed')
    body = matches[0].body
    return _Body(body, body[0].indent, matches[0].header.end, body[-1].end)


def _anchor(edit: Edit, body: _Body, places: list[int], size: int) \
        -> _source.Statement | None:
    """The statement that the edit names, outside its own text."""
    if edit.action in _SCOPED:
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


def _render(edit: Edit, indent: int) -> list[str]:
    text = textwrap.dedent(edit.text).strip('\n')
    lines = textwrap.indent(text, ' ' * indent).split('\n')
    return [line.rstrip() for line in lines] if text else []


def _places(lines: list[str], body: _Body, wanted: list[str]) -> list[int]:
    """Rows of the body where the wanted lines stand already."""
    size = len(wanted)
    last = min(body.end, len(lines)) - size
    return [row for row in range(body.first, last + 1)
            if lines[row:row + size] == wanted]


def _span(edit: Edit, body: _Body, anchor: _source.Statement | None) \
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
    if any(line.strip() for line in below) and (
            _defines(wanted) or _starts_definition(below)):
        result += gap[_blanks(below):]
    return result


def _defines(lines: list[str]) -> bool:
    found = _source.statements('\n'.join(lines))
    return any(s.name is not None for s in (found[0], found[-1]))


def _starts_definition(lines: list[str]) -> bool:
    return re.match(r'\s*(@|def\b|class\b|cdef class\b|cpdef\b|async def\b)',
                    lines[0]) is not None


def _opens(line: str) -> bool:
    return line.rstrip().endswith(':')


def _blanks(lines: Iterable[str]) -> int:
    count = 0
    for line in lines:
        if line.strip():
            break
        count += 1
    return count


def _add_to_list(edit: Edit, lines: list[str], body: _Body, fresh: bool) \
        -> str:
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


# A tree --------------------------------------------------------------------

def edit_texts(texts: Mapping[str, str], edits: Sequence[Edit], *,
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


def apply_all(root: Path, edits: Sequence[Edit]) -> list[str]:
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


def _read(root: Path, edit: Edit) -> str:
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
