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
edit's name and file. Applying edits (:mod:`cupy_overlay._apply`) to a tree
that has them changes nothing.

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
    answer = _ufunc_dispatch.dispatch_ufunc(self, args, kwargs)
    if answer is not _ufunc_override.not_overridden:
        return answer
    '''
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from cupy_overlay import _toml

KINDS = ('upstream', 'build', 'fork')
ANCHORED = ('insert_before', 'insert_after', 'replace', 'remove',
             'add_to_list')
SCOPED = ('append_to_scope', 'prepend_to_scope')
ACTIONS = ANCHORED + SCOPED


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
    if bool(edit.statement) != (edit.action in ANCHORED):
        word = 'needs' if edit.action in ANCHORED else 'takes no'
        raise edit.error(f'action {edit.action} {word} statement')
    if bool(edit.text.strip()) == (edit.action == 'remove'):
        word = 'takes no' if edit.action == 'remove' else 'needs'
        raise edit.error(f'action {edit.action} {word} text')
    if bool(edit.neighbour) != (edit.action == 'add_to_list'):
        raise edit.error('neighbour belongs to add_to_list, which needs it')
