"""Puts the fork into the environment that runs the builder."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from cupy_overlay import _fetch
from cupy_overlay import _installed
from cupy_overlay import _log
from cupy_overlay import _pins
from cupy_overlay import _wheel

_STAMP = '.cupy-overlay-wheel'


class InstallError(Exception):
    """pip could not install a wheel."""


def install(wheel: Path, base: _pins.Base, version: str) -> None:
    """Installs a wheel and what the host device needs, unless it is there."""
    stamp = Path(sys.prefix) / _STAMP
    digest = _fetch.digest(wheel)
    if (stamp.is_file() and stamp.read_text('utf-8') == digest
            and _find(base.name, version)):
        _log.step('up to date', f'{base.name} in {sys.prefix}')
        return
    _log.step('installing', f'{wheel.name} in {sys.prefix}')
    stamp.unlink(missing_ok=True)
    _pip('--no-deps', '--force-reinstall', str(wheel))
    _log.step('installing', 'what the host device needs')
    _pip(f'{base.name}[host]=={version}')
    stamp.write_text(digest, 'utf-8')


def _pip(*arguments: str) -> None:
    command = [sys.executable, '-m', 'pip', 'install', '--quiet', *arguments]
    if subprocess.run(command).returncode:
        raise InstallError(f'{" ".join(command)} failed')


def _find(name: str, version: str) -> importlib.metadata.Distribution | None:
    for found in importlib.metadata.distributions(name=name):
        if found.version == version:
            return found
    return None


def sync(files: Mapping[str, bytes], base: _pins.Base, version: str) \
        -> list[str]:
    """Makes an installed fork hold these files; writes only what differs.

    Args:
        files: all files of the wheel, RECORD included.
        base: which distribution.
        version: the fork's version.

    Returns:
        The names of the files that were written or removed.

    Raises:
        InstalledError: the fork is not installed.
    """
    dist = _find(base.name, version)
    if dist is None:
        raise _installed.InstalledError(
            f'{base.name} {version} is not installed in {sys.prefix}; run '
            '`make wheel` first')
    top = Path(str(dist.locate_file('')))
    before = {file.as_posix() for file in dist.files or ()}
    gone = [name for name in before - files.keys() if _is_ours(name)]
    for name in gone:
        (top / name).unlink(missing_ok=True)
    changed = [name for name, content in files.items()
               if _write(top / name, content)]
    # What pip noted is not that wheel any more.
    (Path(sys.prefix) / _STAMP).unlink(missing_ok=True)
    return sorted(gone + changed)


def _is_ours(name: str) -> bool:
    """Not something that pip or Python wrote beside the wheel's files."""
    return '.dist-info/' not in name and not name.endswith('.pyc')


def _write(path: Path, content: bytes) -> bool:
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    # A new file, so that a process that has the old one mapped lives on.
    partial = path.with_name(path.name + '.part')
    partial.write_bytes(content)
    partial.chmod(_wheel.mode(path.name))
    os.replace(partial, path)
    return True
