"""Gets pinned files: from local folders, the cache, or the package index."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cupy_overlay import _log
from cupy_overlay._config import Config


class FetchError(Exception):
    """A file cannot be had, or is not the one that is pinned."""


def fetch(config: Config, file: str, sha256: str) -> Path:
    """Returns the path of a pinned file.

    Args:
        config: says where local files and the cache are.
        file: name of an sdist or a wheel.
        sha256: its digest; whatever differs is refused.

    Raises:
        FetchError: its digest differs, or it is nowhere.
    """
    for folder in (*config.sources, config.cache):
        path = folder / file
        if path.is_file():
            verify(path, sha256)
            return path
    _log.step('fetching', file)
    config.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=config.cache) as folder_name:
        path = _download(file, Path(folder_name))
        verify(path, sha256)
        os.replace(path, config.cache / file)
    return config.cache / file


def verify(path: Path, sha256: str) -> None:
    """Raises :class:`FetchError` unless a file has the digest wanted."""
    found = digest(path)
    if found != sha256:
        raise FetchError(
            f'{path} has sha256 {found}, but upstream.toml pins {sha256}; '
            'remove the file if it was cut short, and do not use it')


def digest(path: Path) -> str:
    hasher = hashlib.sha256()
    with path.open('rb') as stream:
        while block := stream.read(1 << 20):
            hasher.update(block)
    return hasher.hexdigest()


def _download(file: str, folder: Path) -> Path:
    """Asks pip, which knows this machine's package index."""
    command = [sys.executable, '-m', 'pip', 'download', '--quiet',
               '--no-deps', '--no-build-isolation', '--dest', str(folder),
               *pip_arguments(file)]
    # Without a CUDA toolkit upstream's setup.py would fail to tell pip the
    # metadata of the source distribution.
    env = {**os.environ, 'CUPY_INSTALL_USE_STUB': '1'}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    path = folder / file
    if done.returncode or not path.is_file():
        got = ', '.join(sorted(p.name for p in folder.iterdir())) or 'nothing'
        raise FetchError(
            f'pip could not download {file} (got {got}); on a machine '
            'without a package index put it into a folder and name that in '
            f'CUPY_OVERLAY_SOURCES.\n{done.stderr.strip()}')
    return path


def pip_arguments(file: str) -> list[str]:
    """pip's words for exactly one file of an index."""
    if not file.endswith('.whl'):
        match = re.fullmatch(r'(.+)-([^-]+)\.tar\.gz', file)
        if match is None:
            raise FetchError(f'{file} is neither a wheel nor an sdist')
        name, version = match.groups()
        return ['--no-binary', name, f'{name}=={version}']
    name, version, python, abi, platforms = \
        file.removesuffix('.whl').split('-')
    arguments = ['--only-binary', ':all:']
    for platform in platforms.split('.'):
        arguments += ['--platform', platform]
    if abi != 'none':
        arguments += ['--implementation', 'cp', '--abi', abi,
                      '--python-version', python.removeprefix('cp')]
    return [*arguments, f'{name}=={version}']
