"""The tree: unpacked, laid over, written without needless changes."""

from __future__ import annotations

import io
import tarfile

import pytest

from cupy_overlay import _edits
from cupy_overlay import _tree

PRISTINE = {'cupy/a.py': b'one = 1\n', 'setup.py': b''}


def _edit(**fields):
    values = dict(name='e', why='w', kind='fork', file='cupy/a.py',
                  statement='one', action='insert_after', text='two = 2')
    return _edits.parse(values | fields, 'test.toml')


def test_unpack_strips_the_top_folder(tmp_path):
    path = tmp_path / 's.tar.gz'
    with tarfile.open(path, 'w:gz') as archive:
        for name, content in PRISTINE.items():
            entry = tarfile.TarInfo(f'cupy-1.0/{name}')
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    assert _tree.unpack(path) == PRISTINE


def test_compose_adds_and_edits():
    files = _tree.compose(PRISTINE, {'cupy/b.py': b'x'}, [_edit()])
    assert files == {'cupy/a.py': b'one = 1\ntwo = 2\n', 'setup.py': b'',
                     'cupy/b.py': b'x'}


def test_overlay_refuses_to_replace():
    with pytest.raises(_tree.OverlayError, match=r'cupy/a\.py'):
        _tree.compose(PRISTINE, {'cupy/a.py': b'x'}, [])


def test_edit_of_absent_file_is_refused():
    with pytest.raises(_edits.EditError, match='no such file'):
        _tree.compose(PRISTINE, {}, [_edit(file='cupy/gone.py')])


def test_overlay_leaves_out_what_is_generated(tmp_path):
    for name in ('cupy/new.py', 'cupy/new.pyx', 'cupy/x.so', 'cupy/.hidden',
                 'cupy/lib/libx.so.1', 'cupy/__pycache__/new.pyc'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('x')
    assert set(_tree.overlay(tmp_path)) == {'cupy/new.py', 'cupy/new.pyx'}


def test_write_touches_only_what_differs(tmp_path):
    _tree.write(tmp_path, PRISTINE)
    changed = {**PRISTINE, 'setup.py': b'new'}
    assert _tree.write(tmp_path, changed) == ['setup.py']


def test_write_removes_what_is_gone_but_not_what_was_built(tmp_path):
    _tree.write(tmp_path, PRISTINE)
    (tmp_path / 'cupy/a.cpp').write_text('generated')
    _tree.write(tmp_path, {'setup.py': b''})
    assert not (tmp_path / 'cupy/a.py').exists()
    assert (tmp_path / 'cupy/a.cpp').exists()


SOURCES = {
    'p/a.pyx': b'from p cimport b\nx = 1\n',
    'p/a.pxd': b'',
    'p/b.pyx': b'',
    'p/b.pxd': b'from p.c cimport (\n    C)\n',
    'p/c.pyx': b'include "part.pxi"\n',
    'p/c.pxd': b'',
    'p/part.pxi': b'',
}


@pytest.mark.parametrize('changed, modules', [
    ('p/a.pyx', ['p.a']),
    ('p/b.pxd', ['p.a', 'p.b']),
    ('p/c.pxd', ['p.a', 'p.b', 'p.c']),
    ('p/b.pyx', ['p.b']),
    ('p/part.pxi', ['p.c']),
    ('p/x.py', []),
])
def test_affected(changed, modules):
    assert _tree.affected(SOURCES, [changed]) == modules
