"""The host device's libraries: rebuilt only when something changed."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import pytest

from cupy_overlay import _compile
from cupy_overlay import _config
from cupy_overlay import _host

SOURCE = '#include "number.h"\nextern "C" int number() { return NUMBER; }\n'
USER = ('extern "C" int number();\n'
        'extern "C" int twice() { return 2 * number(); }\n')


@pytest.fixture
def tree(tmp_path):
    csrc = tmp_path / 'tree' / _host.HOST / 'csrc'
    csrc.mkdir(parents=True)
    (csrc / 'number.cpp').write_text(SOURCE)
    (csrc / 'number.h').write_text('#define NUMBER 3\n')
    (csrc / 'user.cpp').write_text(USER)
    return tmp_path / 'tree'


def _plan(tree):
    source = f'{_host.HOST}/csrc/'
    first = _host.Target('libfirst.so.1', (source + 'number.cpp',), (), ())
    second = _host.Target('libsecond.so.1', (source + 'user.cpp',),
                          ('libfirst.so.1',), ())
    return _host.Plan(('-fPIC',), (), (), (first, second), ())


@pytest.fixture
def build(tree, tmp_path, monkeypatch):
    steps = []
    monkeypatch.setattr(_host._log, 'step', lambda *what: steps.append(what))
    config = _config.read(tmp_path, {'build': tmp_path / 'build'}, env={})

    def run():
        steps.clear()
        built = _host.build_libraries(config, tree, _plan(tree), tmp_path)
        return {name.rpartition('/')[2]: str(path)
                for name, path in built.items()}, sorted(steps)
    return run


def test_library_works_and_is_kept(build):
    built, steps = build()
    assert [verb for verb, _ in steps] == ['compiling'] * 2 + ['linking'] * 2
    ctypes.CDLL(built['libfirst.so.1'])
    assert ctypes.CDLL(built['libsecond.so.1']).twice() == 6
    assert build()[1] == []


def test_another_folder_gives_the_same_bytes(build, tree, tmp_path):
    named = SOURCE + 'extern "C" const char *name() { return __FILE__; }\n'
    (tree / _host.HOST / 'csrc/number.cpp').write_text(named)
    first = build()[0]
    elsewhere = tmp_path / 'another place'
    shutil.copytree(tree, elsewhere / 'tree')
    config = _config.read(elsewhere, {'build': elsewhere / 'build'}, env={})
    second = _host.build_libraries(
        config, elsewhere / 'tree', _plan(elsewhere / 'tree'), tmp_path)
    assert len(second) == 2
    for path in second.values():
        assert path.read_bytes() == Path(first[path.name]).read_bytes()


def test_changed_header_rebuilds_what_includes_it(build, tree):
    build()
    (tree / _host.HOST / 'csrc/number.h').write_text('#define NUMBER 4\n')
    steps = build()[1]
    assert ('compiling', 'csrc/number.cpp') in steps
    assert ('compiling', 'csrc/user.cpp') not in steps


def test_error_shows_the_compilers_words(build, tree):
    (tree / _host.HOST / 'csrc/user.cpp').write_text('int f() { return x; }')
    with pytest.raises(_compile.CompileError, match='user.cpp:1:'):
        build()


def test_absent_compiler_is_named(build, monkeypatch):
    monkeypatch.setenv('CXX', 'no-such-compiler -pthread')
    with pytest.raises(_compile.CompileError,
                       match="'no-such-compiler' cannot be run .*CXX"):
        build()


def test_undefined_symbol_is_an_error(build, tree):
    (tree / _host.HOST / 'csrc/number.cpp').write_text('')
    with pytest.raises(_compile.CompileError, match='undefined reference'):
        build()


def test_missing_sources_stop(tmp_path):
    with pytest.raises(_compile.CompileError, match='libcuda'):
        _host.load(tmp_path)


def test_every_target_has_its_sources(root):
    plan = _host.load(root)
    assert {t.name for t in plan.libraries} == {
        'libcuda.so.1', 'libcurand.so.10'}
    assert 'cupy_backends.cuda.api.runtime' in {t.name for t in plan.modules}
