"""The base from an installed CuPy: for machines without an index."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

from cupy_overlay import _log
from cupy_overlay import _pins
from cupy_overlay import _wheel

# Written by installers, not part of a wheel.
_LOCAL = ('INSTALLER', 'REQUESTED', 'direct_url.json', 'RECORD.jws')


class InstalledError(Exception):
    """There is no installed CuPy that may serve as the base."""


def read(where: str, base: _pins.Base, version: str) -> dict[str, bytes]:
    """Reads an installed distribution as if it were its wheel.

    Args:
        where: ``1`` for this Python's packages, or a site-packages folder.
        base: which distribution.
        version: the version that it must have.

    Raises:
        InstalledError: it is absent or has another version.
        WheelError: a file has been changed since it was installed.
    """
    paths = sys.path if where == '1' else [where]
    found = list(importlib.metadata.distributions(name=base.name, path=paths))
    versions = [d.version for d in found]
    if version not in versions:
        raise InstalledError(
            f'{base.name} {version} is not installed '
            + ('for this Python' if where == '1' else f'in {where}')
            + (f', but {versions[0]} is' if versions else '')
            + '; name the right site-packages folder in '
            'CUPY_OVERLAY_FROM_INSTALLED, or build from the wheel')
    dist = found[versions.index(version)]
    _log.step('reading', f'installed {base.name} {version}')
    files = _files(dist)
    _wheel.check_record(files, f'installed {base.name}')
    return files


def _files(dist: importlib.metadata.Distribution) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for listed in dist.files or ():
        name = listed.as_posix()
        if name.endswith('.pyc') or listed.name in _LOCAL:
            continue
        path = Path(str(dist.locate_file(listed)))
        if path.is_file():
            files[name] = path.read_bytes()
    record = next(name for name in files if name.endswith('/RECORD'))
    files[record] = _without_local(files[record])
    return files


def _without_local(record: bytes) -> bytes:
    """RECORD as the wheel had it, near enough to check files against."""
    rows = record.decode().splitlines(keepends=True)
    names = [row.split(',')[0].rsplit('/', 1)[-1] for row in rows]
    kept = [row for row, name in zip(rows, names, strict=True)
            if not name.endswith('.pyc') and name not in _LOCAL]
    return ''.join(kept).encode()
