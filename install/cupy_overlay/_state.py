"""Whether a wheel is up to date: a fingerprint of all that goes into it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from cupy_overlay import _config
from cupy_overlay import _fetch
from cupy_overlay import _tree

LICENCES = ('LICENSE', 'NOTICE')
_VARIABLES = ('CUDA_PATH', 'CXX', 'CC', 'CFLAGS', 'CXXFLAGS', 'LDFLAGS')
_FILE = 'wheel.json'


def fingerprint(config: _config.Config) -> str:
    """A digest of the repository's files and of the settings."""
    settings = [config.base, config.from_installed, sys.version, sys.prefix,
                *(os.environ.get(name, '') for name in _VARIABLES)]
    hasher = hashlib.sha256(json.dumps(settings).encode())
    for name, content in _inputs(config.root):
        hasher.update(f'{name}\0{len(content)}\0'.encode() + content)
    return hasher.hexdigest()


def _inputs(root: Path) -> Iterator[tuple[str, bytes]]:
    yield from _tree.overlay(root).items()
    paths = [root / 'upstream.toml', *(root / name for name in LICENCES),
             *sorted((root / 'edits').iterdir()),
             *sorted((root / 'install/cupy_overlay').glob('*.*'))]
    for path in paths:
        if path.is_file():
            yield path.relative_to(root).as_posix(), path.read_bytes()


def is_current(config: _config.Config, wheel: Path, key: str) -> bool:
    """Whether a wheel is the one that was last built, from the same."""
    path = config.work / _FILE
    if not path.is_file() or not wheel.is_file():
        return False
    stored = json.loads(path.read_text('utf-8'))
    return bool(stored == {'key': key, 'sha256': _fetch.digest(wheel)})


def store(config: _config.Config, wheel: Path, key: str) -> None:
    """Notes what a wheel was built from."""
    stored = {'key': key, 'sha256': _fetch.digest(wheel)}
    (config.work / _FILE).write_text(json.dumps(stored), 'utf-8')
