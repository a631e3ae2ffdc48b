"""Choosing the host device: activate(), its libraries, its import finder."""
from __future__ import annotations

import importlib.machinery
import os
import pathlib
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from cupy_backends import host
from cupy_backends.host.runtime import _finder
from cupy_backends.host.runtime import library


def run(script: str, *args: str, **environment: str) -> str:
    """Runs a script in a new interpreter; returns what it prints."""
    # Found by their places, so that it does not matter how pytest found
    # them.
    root = pathlib.Path(host.__path__[0]).parent.parent
    # With this in the environment it is active from the start.
    inherited = {name: value for name, value in os.environ.items()
                 if name != 'CUPY_DEVICE'}
    start = (f'import sys; sys.path.insert(0, {os.fspath(root)!r})\n'
             'import cupy_backends.host as host\n')
    done = subprocess.run(
        [sys.executable, '-c', start + textwrap.dedent(script), *args],
        env={**inherited, **environment}, capture_output=True, text=True,
        timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def a_library(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Makes a shared library of that file name, which holds nothing."""
    path = folder / name
    subprocess.run(['cc', '-shared', '-x', 'c', '/dev/null', '-o', path],
                   check=True)
    return path


def test_the_library_is_found_by_the_drivers_name() -> None:
    assert run('''
        import ctypes
        host.activate()
        host.activate()  # again does nothing
        count = ctypes.c_int()
        driver = ctypes.CDLL('libcuda.so.1')
        assert driver.cuInit(0) == 0
        assert driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        print(host.is_active(), count.value, hasattr(driver, 'hd_sizeof'))
    ''') == 'True 1 True\n'


def test_importing_the_package_loads_nothing() -> None:
    assert run('''
        maps = open('/proc/self/maps').read()
        print(host.is_active(), 'libcuda' in maps, 'llvmlite' in sys.modules)
    ''') == 'False False False\n'


def test_a_driver_that_is_loaded_already(tmp_path: pathlib.Path) -> None:
    driver = a_library(tmp_path, 'libcuda.so.535.1')
    out = run('''
        import ctypes
        ctypes.CDLL(sys.argv[1])
        try:
            host.activate()
        except RuntimeError as error:
            print(error)
        print(host.is_active())
    ''', os.fspath(driver))
    assert 'libcuda.so.535.1 is loaded already' in out
    assert 'CUPY_DEVICE=host' in out
    assert out.endswith('False\n')


def test_a_build_without_the_libraries(tmp_path: pathlib.Path) -> None:
    out = run('''
        try:
            host.activate()
        except ImportError as error:
            print(error)
    ''', CUPY_HOST_LIBRARY_DIR=os.fspath(tmp_path))
    assert os.fspath(tmp_path / 'libcuda.so.1') in out
    assert 'which is not there' in out


def test_without_llvmlite() -> None:
    assert 'pip install llvmlite' in run('''
        sys.modules['llvmlite'] = None
        for name in [n for n in sys.modules if n.startswith('llvmlite.')]:
            del sys.modules[name]
        try:
            host.activate()
        except ImportError as error:
            print(error)
    ''')


def test_cupy_was_imported_before() -> None:
    assert 'before CuPy is imported' in run('''
        import types
        sys.modules['cupy_backends.cuda.api.runtime'] = types.ModuleType('r')
        try:
            host.activate()
        except RuntimeError as error:
            print(error)
    ''')


def test_kernels_are_compiled_to_ptx() -> None:
    assert run('''
        import os
        host.activate()
        print(os.environ['CUPY_COMPILE_WITH_PTX'])
    ''', CUPY_COMPILE_WITH_PTX='') == '1\n'


def test_mapped_files_hold_this_interpreters_libraries() -> None:
    files = library._mapped_files()
    assert any(path.name.startswith('libc.so') for path in files)
    assert all(path.is_absolute() for path in files)


# The finder ----------------------------------------------------------------

def _touch(folder: pathlib.Path, *names: str) -> None:
    for name in names:
        (folder / name).touch()


def test_builds_of_this_interpreter_are_found(tmp_path: pathlib.Path) -> None:
    best = importlib.machinery.EXTENSION_SUFFIXES[0]
    other = '.cpython-27-x86_64-linux-gnu.so'
    _touch(tmp_path, 'a.b' + best, 'a.c.so', 'a.d' + other, 'a.b.so',
           'README')
    finder = _finder.Finder(tmp_path)
    assert finder.builds == {'a.b': tmp_path / ('a.b' + best),
                             'a.c': tmp_path / 'a.c.so'}
    spec = finder.find_spec('a.b', None)
    assert spec is not None and spec.origin == str(finder.builds['a.b'])
    assert finder.find_spec('a.d', None) is None


def test_a_missing_folder_has_no_builds(tmp_path: pathlib.Path) -> None:
    assert not _finder.Finder(tmp_path / 'nothing').builds


def test_hook_runs_once_after_the_import(
        tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'host_hooked_module.py').write_text('value = 1\n')
    seen: list[Any] = []
    finder = _finder.Finder(tmp_path, {
        'host_hooked_module': lambda module: seen.append(module.value)})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, 'meta_path', [finder, *sys.meta_path])
    import host_hooked_module  # type: ignore[import-not-found]
    monkeypatch.delitem(sys.modules, 'host_hooked_module')
    assert seen == [1]
    assert host_hooked_module.value == 1
    import host_hooked_module as again
    monkeypatch.delitem(sys.modules, 'host_hooked_module')
    assert again.value == 1 and seen == [1]
