"""CUDA headers to compile against: of a toolkit, or of PyPI packages."""

from __future__ import annotations

import os
import platform
import re
import shutil
import zipfile
from pathlib import Path

from cupy_overlay import _fetch
from cupy_overlay import _log
from cupy_overlay._config import Config
from cupy_overlay._pins import Base

_VERSION = re.compile(r'^\s*#\s*define\s+CUDART_VERSION\s+(\d+)', re.MULTILINE)


class HeaderError(Exception):
    """There are no CUDA headers, or they are of another version."""


def find(config: Config, base: Base) -> Path:
    """Returns a folder with CUDA headers of the base's major version.

    ``CUDA_PATH`` goes first; then the pinned packages are fetched.
    """
    toolkit = os.environ.get('CUDA_PATH')
    if toolkit:
        include = Path(toolkit) / 'include'
        _check(include, base)
        return include
    return _unpacked(config, base)


def version(include: Path) -> int:
    """The CUDA version of a folder of headers, e.g. 13000 for 13.0."""
    header = include / 'cuda_runtime_api.h'
    if not header.is_file():
        raise HeaderError(f'no CUDA headers in {include}')
    match = _VERSION.search(header.read_text('utf-8', 'replace'))
    if match is None:
        raise HeaderError(f'{header} does not say its version')
    return int(match.group(1))


def _check(include: Path, base: Base) -> None:
    found = version(include)
    if found // 1000 != base.cuda:
        raise HeaderError(
            f'CUDA_PATH has headers of CUDA {found // 1000}.'
            f'{found % 1000 // 10}, but {base.name} needs {base.cuda}.x; '
            'unset CUDA_PATH to use the packages of the index')


def _unpacked(config: Config, base: Base) -> Path:
    pinned = base.header_files(platform.machine())
    include = config.build / f'cuda-{base.cuda}-include'
    stamp = include / '.complete'
    wanted = ''.join(f'{digest}\n' for digest in pinned.values())
    if stamp.is_file() and stamp.read_text('utf-8') == wanted:
        return include
    shutil.rmtree(include, ignore_errors=True)
    for file, digest in pinned.items():
        _log.step('unpacking', f'CUDA headers of {file.split("-py3")[0]}')
        _unpack(_fetch.fetch(config, file, digest), include)
    _check(include, base)
    stamp.write_text(wanted, 'utf-8')
    return include


def _unpack(wheel: Path, include: Path) -> None:
    """Copies what lies below the ``include`` folders of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            _, found, inner = name.partition('/include/')
            if found and inner and not name.endswith('/'):
                target = include / inner
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
