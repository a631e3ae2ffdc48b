"""The build backend's hooks, the command line and setup.py."""

from __future__ import annotations

import subprocess
import sys
import tarfile

import pytest

import cupy_overlay
from cupy_overlay import __main__ as command_line
from cupy_overlay import _sdist


def test_pyproject_names_the_backend(root):
    text = (root / 'pyproject.toml').read_text()
    assert 'build-backend = "cupy_overlay"' in text
    for requirement in cupy_overlay.BOOTSTRAP:
        assert requirement in text


def test_requirements_are_enough_to_run_pip():
    required = cupy_overlay.get_requires_for_build_wheel()
    assert 'pip' in required
    assert any(r.startswith('Cython') for r in required)


def test_importing_needs_the_standard_library_alone(root):
    code = ('import sys; sys.path.insert(0, "install"); import cupy_overlay; '
            'print(*{m.split(".")[0] for m in sys.modules})')
    done = subprocess.run([sys.executable, '-I', '-S', '-c', code], cwd=root,
                          capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split()) - {'cupy_overlay'}
    assert not {name for name in loaded - set(sys.stdlib_module_names)
                if not name.startswith('_')}


def test_sdist_is_reproducible(root, tmp_path):
    first, second = tmp_path / 'a', tmp_path / 'b'
    for folder in (first, second):
        folder.mkdir()
        name = cupy_overlay.build_sdist(str(folder))
    assert (first / name).read_bytes() == (second / name).read_bytes()
    with tarfile.open(first / name) as archive:
        names = [n.partition('/')[2] for n in archive.getnames()]
    assert {'PKG-INFO', 'pyproject.toml', 'upstream.toml', '.ci/run',
            'install/cupy_overlay/__init__.py', 'edits/series'} <= set(names)
    assert not [n for n in names if n.startswith(('build/', '.venv/'))]


def test_sdist_leaves_out_what_is_built(tmp_path):
    for name in ('a.py', 'build/b.py', '.venv/c.py', 'd.so', '__pycache__/e'):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert _sdist.listed(tmp_path) == ['a.py']


@pytest.mark.parametrize('arguments', [
    [], ['install'], ['bdist_wheel', 'sdist']])
def test_setup_py_explains_itself(root, arguments):
    done = subprocess.run([sys.executable, root / 'setup.py', *arguments],
                          capture_output=True, text=True)
    assert done.returncode == 2
    assert 'make wheel' in done.stderr


def test_errors_are_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv('CUPY_OVERLAY_BASE', 'cupy-cuda99x')
    monkeypatch.setenv('CUPY_OVERLAY_BUILD', str(tmp_path))
    assert command_line.main(['wheel', str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: no base 'cupy-cuda99x' in upstream.toml")
    assert error.count('\n') == 1
