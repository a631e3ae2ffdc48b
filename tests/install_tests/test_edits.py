"""The edit engine: places are found by structure, or the build stops."""

from __future__ import annotations

import dataclasses

import pytest

from cupy_overlay import _apply
from cupy_overlay import _edits

SOURCE = '''\
# A module.
"""Its docstring."""
from __future__ import annotations

import os


cdef class Holder(
        Base):
    """Docstring naming alpha."""

    cdef int size

    def method(self, a, *, b=':'):
        # first step
        x = helper(a)
        if x:
            y = other(x)
        else:
            y = 1
        return y

    cpdef int method2(self, a) except -1:
        return 0


try:
    def late():
        pass
except ImportError:
    late = None

_files = [
    'alpha',
    'beta',  # last
]
'''


def _edit(**fields):
    values = dict(name='the-edit', why='test', kind='fork', file='m.pyx')
    values.update(fields)
    return _edits.parse(values, 'test.toml')


def _method(**fields):
    return _edit(scope='Holder.method', **fields)


def _body(text, start='x = helper', stop='return y'):
    """The stripped lines of ``method``'s body."""
    rows = [row.strip() for row in text.split('\n')]
    return rows[rows.index("def method(self, a, *, b=':'):") + 1:
                rows.index(stop) + 1]


@pytest.mark.parametrize('action, expected', [
    ('insert_before', ['NEW', '# first step', 'x = helper(a)', 'if x:']),
    ('insert_after', ['# first step', 'x = helper(a)', 'NEW', 'if x:']),
    ('replace', ['NEW', 'if x:', 'y = other(x)', 'else:']),
])
def test_action(action, expected):
    edit = _method(statement='helper', action=action, text='NEW')
    assert _body(_apply.apply(SOURCE, edit))[:4] == expected


def test_remove_takes_all_clauses():
    edit = _method(statement=['if', 'other'], action='remove')
    assert _body(_apply.apply(SOURCE, edit)) == [
        '# first step', 'x = helper(a)', 'return y']


def test_remove_leaves_one_blank_line():
    text = 'a = 1\n\nb = 2\n\nc = 3\n'
    edit = _edit(statement='b = 2', action='remove')
    assert _apply.apply(text, edit) == 'a = 1\n\nc = 3\n'


def test_decorator_stays_with_its_function():
    edit = _edit(scope='Holder', statement='def method',
                 action='insert_before', text='@decorated')
    changed = _apply.apply(SOURCE, edit)
    assert '\n\n    @decorated\n    def method(' in changed
    assert _apply.apply(changed, edit) == changed


def test_text_is_indented_like_the_body():
    edit = _method(statement='helper', action='insert_after',
                   text='\n    if a:\n        b = 1\n')
    assert '        if a:\n            b = 1\n' in _apply.apply(SOURCE, edit)


def test_inside_names_a_nested_block():
    edit = _method(inside='if x', statement='y = 1', action='insert_before',
                   text='NEW')
    assert '        else:\n            NEW\n' in _apply.apply(SOURCE, edit)


def test_prepend_goes_behind_the_docstring():
    edit = _edit(scope='Holder', action='prepend_to_scope', text='NEW')
    assert 'alpha."""\n    NEW\n' in _apply.apply(SOURCE, edit)


def test_prepend_to_module_goes_behind_future_imports():
    edit = _edit(action='prepend_to_scope', text='NEW')
    assert 'annotations\nNEW\n' in _apply.apply(SOURCE, edit)


def test_append_to_scope_separates_definitions():
    edit = _edit(scope='Holder', action='append_to_scope',
                 text='def new(self):\n    pass')
    assert ('        return 0\n\n    def new(self):\n        pass\n\n\ntry:'
            in _apply.apply(SOURCE, edit))


def test_append_to_empty_module():
    edit = _edit(action='append_to_scope', text='NEW')
    assert _apply.apply('', edit).strip() == 'NEW'


def test_definition_below_try_is_found():
    edit = _edit(scope='late', statement='pass', action='replace',
                 text='return 1')
    assert '        return 1\n' in _apply.apply(SOURCE, edit)


def test_add_to_list():
    edit = _edit(statement='_files', action='add_to_list',
                 neighbour="'alpha'", text="'new'")
    assert "    'alpha',\n    'new',\n" in _apply.apply(SOURCE, edit)


def test_add_to_list_keeps_the_comment():
    edit = _edit(statement='_files', action='add_to_list',
                 neighbour="'beta'", text="'new'")
    assert "'beta',  # last\n    'new',\n]" in _apply.apply(SOURCE, edit)


def test_add_to_list_on_one_line():
    edit = _edit(statement='names', action='add_to_list',
                 neighbour="'a'", text="'new'")
    result = _apply.apply("names = ['a', 'b']\n", edit)
    assert result == "names = ['a', 'new', 'b']\n"


@pytest.mark.parametrize('fields', [
    dict(statement='help', action='replace', text='NEW'),
    dict(statement='alpha', action='remove'),
    dict(scope='Holder.nowhere', action='append_to_scope', text='NEW'),
    dict(scope='Holder.method', inside='while', statement='x',
         action='remove'),
    dict(statement='_files', action='add_to_list', neighbour="'gone'",
         text="'new'"),
], ids=lambda fields: fields.get('statement') or fields['scope'])
def test_missing_anchor_names_edit_and_file(fields):
    fields = dict(scope='Holder.method') | fields
    if fields['action'] == 'add_to_list':
        fields['scope'] = ''
    with pytest.raises(_edits.EditError) as caught:
        _apply.apply(SOURCE, _edit(**fields))
    assert "'the-edit' of m.pyx" in str(caught.value)
    assert 'no ' in str(caught.value)


def test_doubled_anchor_names_edit_file_and_lines():
    edit = _method(statement='y', action='insert_after', text='NEW')
    with pytest.raises(_edits.EditError, match=r"'the-edit' of m\.pyx: 2 "
                       r'statement .* \(lines 17, 21\)'):
        _apply.apply(SOURCE, edit)


def test_doubled_scope_is_refused():
    text = SOURCE + '\n\ndef late():\n    pass\n'
    edit = _edit(scope='late', action='append_to_scope', text='NEW')
    with pytest.raises(_edits.EditError, match="2 definition of 'late'"):
        _apply.apply(text, edit)


@pytest.mark.parametrize('action', [
    'insert_before', 'insert_after', 'replace', 'append_to_scope',
    'prepend_to_scope'])
def test_second_application_changes_nothing(action):
    statement = () if action.endswith('scope') else 'helper'
    edit = _method(statement=statement, action=action,
                   text='x = ask_first(helper, a)')
    once = _apply.apply(SOURCE, edit)
    assert once != SOURCE
    assert _apply.apply(once, edit) == once


def test_own_text_in_upstream_is_an_error_when_fresh():
    edit = _method(statement='helper', action='insert_after',
                   text='x = ask_first(helper, a)')
    once = _apply.apply(SOURCE, edit)
    with pytest.raises(_edits.EditError, match='in the file already'):
        _apply.apply(once, edit, fresh=True)


@pytest.mark.parametrize('change, message', [
    (dict(kind='other'), 'kind'),
    (dict(action='destroy'), 'action'),
    (dict(text=''), 'needs text'),
    (dict(statement=()), 'needs statement'),
    (dict(action='append_to_scope'), 'takes no statement'),
    (dict(action='add_to_list'), 'neighbour'),
    (dict(colour='red'), 'unknown field'),
    (dict(why=''), "'why' is missing"),
])
def test_malformed_edit_is_refused(change, message):
    fields = dict(statement='helper', action='replace', text='NEW') | change
    with pytest.raises(_edits.EditError, match=message):
        _edit(**fields)


# Trees ---------------------------------------------------------------------

def test_tree_is_left_alone_when_one_edit_fails(tmp_path):
    (tmp_path / 'm.pyx').write_text(SOURCE)
    good = _method(statement='helper', action='remove')
    bad = dataclasses.replace(good, name='bad', statement=('gone',))
    with pytest.raises(_edits.EditError, match='bad'):
        _apply.apply_all(tmp_path, [good, bad])
    assert (tmp_path / 'm.pyx').read_text() == SOURCE


def test_removal_is_idempotent_in_a_tree(tmp_path):
    (tmp_path / 'm.pyx').write_text(SOURCE)
    edit = _method(statement='helper', action='remove')
    assert _apply.apply_all(tmp_path, [edit]) == ['m.pyx']
    once = (tmp_path / 'm.pyx').read_text()
    assert _apply.apply_all(tmp_path, [edit]) == []
    assert (tmp_path / 'm.pyx').read_text() == once


def test_edit_of_absent_file(tmp_path):
    edit = _method(statement='helper', action='remove')
    with pytest.raises(_edits.EditError, match='m.pyx: no such file'):
        _apply.apply_all(tmp_path, [edit])


def _series(folder, listed, **files):
    (folder / 'series').write_text(listed)
    for name, text in files.items():
        (folder / f'{name}.toml').write_text(text)


EDIT = '''
[[edit]]
name = '%s'
why = 'test'
kind = 'fork'
file = 'm.pyx'
statement = 'helper'
action = 'remove'
'''


def test_series_gives_the_order(tmp_path):
    _series(tmp_path, '# order\nb.toml\na.toml  # last\n',
            a=EDIT % 'first', b=EDIT % 'second')
    assert [e.name for e in _edits.load(tmp_path)] == ['second', 'first']


def test_series_with_absent_file(tmp_path):
    _series(tmp_path, 'a.toml\n')
    with pytest.raises(_edits.EditError, match='a.toml'):
        _edits.load(tmp_path)


def test_name_used_twice(tmp_path):
    _series(tmp_path, 'a.toml\n', a=EDIT % 'same' + EDIT % 'same')
    with pytest.raises(_edits.EditError, match='more than once'):
        _edits.load(tmp_path)
