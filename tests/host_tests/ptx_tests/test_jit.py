"""Object code: the disk cache and what its key depends on."""
from __future__ import annotations

from pathlib import Path

import pytest

from cupy_backends.host.ptx import compile as compile_
from cupy_backends.host.runtime import cache
from cupy_backends.host.runtime import jit
import runner

STORE = runner.entry('st.global.u32 [%rd0], %r0;')
VARIABLES = '.global .u32 {};\n.global .u32 used = 3;\n'
USES = runner.entry('ld.global.u32 %r1, [used]; st.global.u32 [%rd0], %r1;')


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv('CUPY_HOST_CACHE_DIR', str(tmp_path / 'cache'))
    return tmp_path / 'cache'


def compile_again(text: str = STORE) -> tuple[compile_.Kernel, bytes]:
    return jit.compile_kernel(compile_.Module(text), 'k')


def key(text: str, name: str = 'k') -> str:
    return jit.cache_key(compile_.Module(text), name)


def test_second_time_comes_from_the_disk(folder: Path) -> None:
    first, image = compile_again()
    second, again = compile_again()
    assert image == again
    assert first.ir and not second.ir
    assert second == first._replace(ir='')
    assert len(list(folder.iterdir())) == 1


def test_stops_survive_the_cache() -> None:
    text = runner.entry('bar.sync 0; st.global.u32 [%rd0], %r0;')
    first, _ = compile_again(text)
    second, _ = compile_again(text)
    assert first.stops and second.stops == first.stops
    assert second.functions == first.functions


@pytest.mark.parametrize('damage', [
    lambda content: b'', lambda content: content[:-1],
    lambda content: content[:100] + b'x' + content[101:],
    lambda content: b'\n' + content])
def test_damaged_entry_is_made_again(folder: Path, damage: object) -> None:
    _, image = compile_again()
    path, = folder.iterdir()
    content = path.read_bytes()
    path.write_bytes(damage(content))  # type: ignore[operator]
    kernel, again = compile_again()
    assert kernel.ir and again == image
    assert path.read_bytes() == content


def test_folder_that_cannot_be_written(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / 'file').touch()
    monkeypatch.setenv('CUPY_HOST_CACHE_DIR', str(tmp_path / 'file' / 'x'))
    assert compile_again()[0].ir and compile_again()[0].ir


def test_entries_from_elsewhere_are_not_mixed_up() -> None:
    cache.store('name', {'a': [1, 2]}, b'\n\0image\n')
    assert cache.load('name') == ({'a': [1, 2]}, b'\n\0image\n')
    assert cache.load('other') is None


def test_key_depends_on_the_kernel() -> None:
    assert key(STORE) != key(STORE.replace('%r0;\n}', '%r1;\n}'))


def test_key_does_not_depend_on_other_kernels() -> None:
    assert key(STORE) == key(STORE + '.entry other() { ret; }\n')


def test_key_depends_on_called_functions() -> None:
    text = runner.entry('call f;') + '.func f() { call g; ret; }\n'
    assert key(text + '.func g() { ret; }') != key(
        text + '.func g() { trap; }')


def test_key_depends_on_the_place_of_variables() -> None:
    before = runner.entry('ld.global.u32 %r1, [used];', before=VARIABLES)
    assert key(before.replace('{}', 'a')) == key(before.replace('{}', 'b'))
    assert key(before.replace('{}', 'a')) != key(
        before.replace('{}', 'a[2]'))


def test_key_depends_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    name, features = jit.host()
    before = key(STORE)
    jit._version.cache_clear()
    monkeypatch.setattr(jit, 'host', lambda: (name, features + ',+other'))
    try:
        assert key(STORE) != before
    finally:
        jit._version.cache_clear()


def test_object_code_without_a_function_is_refused() -> None:
    _, image = compile_again()
    with pytest.raises(RuntimeError, match='lacks'):
        jit.Code('k', image, ('absent',))


def test_many_kernels_come_and_go() -> None:
    for number in range(20):
        runner.Kernel(STORE.replace('%r0;\n}', f'{number};\n}}'))


def test_cpu_without_what_the_code_needs(
        monkeypatch: pytest.MonkeyPatch) -> None:
    features = jit.llvm.get_host_cpu_features()
    features.update({'fma': False, 'sse4.1': True})
    monkeypatch.setattr(jit.llvm, 'get_host_cpu_features', lambda: features)
    with pytest.raises(RuntimeError, match='instructions fma'):
        jit.host.__wrapped__()
