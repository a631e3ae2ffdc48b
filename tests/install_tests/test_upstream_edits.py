"""The repository's edits and files fit the pinned sdist."""

from __future__ import annotations

import ast
import re

import pytest

from cupy_overlay import _apply
from cupy_overlay import _edits
from cupy_overlay import _host
from cupy_overlay import _toml
from cupy_overlay import _tree


@pytest.fixture(scope='module')
def edits(root):
    return _edits.load(root / 'edits')


@pytest.fixture(scope='module')
def composed(root, pristine, edits):
    return _tree.compose(pristine, _tree.overlay(root), edits)


def test_all_edits_apply(pristine, edits):
    changed = _tree.edited(pristine, edits)
    assert set(changed) == {edit.file for edit in edits}


def test_edits_are_idempotent(pristine, edits, tmp_path):
    for edit in edits:
        path = tmp_path / edit.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pristine[edit.file])
    first = _apply.apply_all(tmp_path, edits)
    after = {name: (tmp_path / name).read_bytes() for name in first}
    assert first
    assert _apply.apply_all(tmp_path, edits) == []
    assert {name: (tmp_path / name).read_bytes() for name in first} == after


def test_every_edit_file_is_in_the_series(root):
    listed = _edits.series(root / 'edits')
    assert sorted(listed) == sorted(
        path.name for path in (root / 'edits').glob('*.toml')
        if 'edit' in _toml.load(path))


def test_edited_python_parses(pristine, edits):
    for name, content in _tree.edited(pristine, edits).items():
        if name.endswith('.py'):
            ast.parse(content, name)


def test_overlay_only_adds(root, pristine):
    assert not _tree.overlay(root).keys() & pristine.keys()


def test_new_modules_are_known_to_the_full_build(root, composed):
    listed = composed['install/cupy_builder/_features.py'].decode()
    for name in _tree.overlay(root):
        if name.endswith('.pyx'):
            assert f"'{_tree.module_name(name)}'" in listed


def test_edits_spare_the_modules_built_twice(root, composed, edits, tmp_path):
    ours = _tree.overlay(root)
    _tree.write(tmp_path, ours)
    changed = [*ours, *(edit.file for edit in edits)]
    plan = _host.load(tmp_path)
    assert plan.modules
    assert not (set(_tree.affected(composed, changed))
                & {target.name for target in plan.modules})


def test_packages_have_an_init(root):
    """Else setuptools would leave them out of a full build."""
    ours = _tree.overlay(root)
    upstream = ('cupy', 'cupy/_core', 'cupy/cuda', 'cupyx', 'cupy_backends')
    for name in ours:
        folder = name.rpartition('/')[0]
        if re.search(r'\.pyx?$', name) and folder not in upstream:
            assert f'{folder}/__init__.py' in ours
