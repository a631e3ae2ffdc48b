"""Pinned files: found, verified, and asked for by their exact names."""

from __future__ import annotations

import dataclasses
import hashlib
import subprocess

import pytest

from cupy_overlay import _config
from cupy_overlay import _fetch

FILE = 'thing-1.0.tar.gz'
CONTENT = b'the archive'
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def config(tmp_path):
    settings = {'cache': tmp_path / 'cache', 'sources': tmp_path / 'local'}
    (tmp_path / 'local').mkdir()
    return _config.read(tmp_path, settings, env={})


def _no_pip(*args, **kwargs):
    raise AssertionError('pip was run')


def test_local_file(config, tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, 'run', _no_pip)
    path = tmp_path / 'local' / FILE
    path.write_bytes(CONTENT)
    assert _fetch.fetch(config, FILE, SHA256) == path


def test_wrong_hash_stops(config, tmp_path):
    (tmp_path / 'local' / FILE).write_bytes(b'something else')
    with pytest.raises(_fetch.FetchError, match=f'{FILE} has sha256 .* but '
                       f'upstream.toml pins {SHA256}'):
        _fetch.fetch(config, FILE, SHA256)


def _pip_that_writes(content):
    def run(command, **kwargs):
        folder = command[command.index('--dest') + 1]
        with open(f'{folder}/{FILE}', 'wb') as stream:
            stream.write(content)
        return subprocess.CompletedProcess(command, 0, '', '')
    return run


def test_download_is_kept(config, monkeypatch):
    monkeypatch.setattr(subprocess, 'run', _pip_that_writes(CONTENT))
    path = _fetch.fetch(config, FILE, SHA256)
    assert path == config.cache / FILE
    monkeypatch.setattr(subprocess, 'run', _no_pip)
    assert _fetch.fetch(config, FILE, SHA256) == path


def test_wrong_download_stops_and_is_not_kept(config, monkeypatch):
    monkeypatch.setattr(subprocess, 'run', _pip_that_writes(b'bad'))
    with pytest.raises(_fetch.FetchError, match='has sha256'):
        _fetch.fetch(config, FILE, SHA256)
    assert list(config.cache.iterdir()) == []


def test_failed_download_says_what_to_do(config, monkeypatch):
    def run(command, **kwargs):
        return subprocess.CompletedProcess(command, 1, '', 'no network')

    monkeypatch.setattr(subprocess, 'run', run)
    with pytest.raises(_fetch.FetchError, match='CUPY_OVERLAY_SOURCES(.|\n)*'
                       'no network'):
        _fetch.fetch(config, FILE, SHA256)


def test_pip_arguments_of_a_wheel():
    file = 'some_name-1.0-cp314-cp314t-manylinux2014_x86_64.whl'
    assert _fetch.pip_arguments(file) == [
        '--only-binary', ':all:', '--platform', 'manylinux2014_x86_64',
        '--implementation', 'cp', '--abi', 'cp314t', '--python-version',
        '314', 'some_name==1.0']


def test_pip_arguments_of_an_sdist():
    assert _fetch.pip_arguments(FILE) == [
        '--no-binary', 'thing', 'thing==1.0']


@pytest.mark.parametrize('python', [
    'cp310', 'cp311', 'cp312', 'cp313', 'cp314'])
@pytest.mark.parametrize('machine', ['x86_64', 'aarch64'])
def test_every_base_is_pinned(pins, python, machine):
    assert sorted(pins.bases) == ['cupy-cuda12x', 'cupy-cuda13x']
    for base in pins.bases.values():
        file = base.wheel(python, machine)
        assert file.startswith(base.name.replace('-', '_') + '-'
                               + pins.version)
        assert len(base.header_files(machine)) == 3


def test_every_pin_is_a_sha256(pins):
    digests = [pins.sdist_sha256]
    for base in pins.bases.values():
        digests += [*base.wheels.values(), *base.headers.values()]
    assert all(len(d) == 64 and int(d, 16) for d in digests)


def test_settings_go_before_the_environment(tmp_path):
    env = {'CUPY_OVERLAY_BASE': 'from-env', 'CUPY_OVERLAY_JOBS': '3'}
    config = _config.read(tmp_path, {'base': 'from-settings'}, env)
    assert (config.base, config.jobs) == ('from-settings', 3)
    assert dataclasses.replace(config, base='b').work.name.startswith('b-cp3')


@pytest.mark.parametrize('settings, message', [
    ({'bass': 'x'}, 'bass'), ({'jobs': 'many'}, 'many')])
def test_wrong_settings_are_refused(tmp_path, settings, message):
    with pytest.raises(_config.ConfigError, match=message):
        _config.read(tmp_path, settings, env={})
