"""The source distribution of the fork: the repository's own files."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

from cupy_overlay import _pins

NAME = 'cupy_ufunc_override'
_SKIPPED = ('build', 'dist', '__pycache__')
_GENERATED = ('.pyc', '.so', '.o')


def build(root: Path, folder: Path) -> Path:
    """Packs the repository; the same files give the same bytes."""
    pins = _pins.load(root)
    top = f'{NAME}-{pins.fork_version}'
    about = f'Metadata-Version: 2.1\nName: {NAME}\n' \
            f'Version: {pins.fork_version}\n'
    files = {'PKG-INFO': about.encode()}
    files.update((name, (root / name).read_bytes()) for name in listed(root))
    path = folder / f'{top}.tar.gz'
    with path.open('wb') as raw, \
            gzip.GzipFile('', 'wb', fileobj=raw, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode='w') as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(f'{top}/{name}')
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    return path


def listed(root: Path) -> list[str]:
    """The repository's files, without what builds and tools leave there."""
    names: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED
                            and (not f.startswith('.') or f == '.ci'))
        here = Path(folder).relative_to(root)
        names += [(here / f).as_posix() for f in sorted(files)
                  if not f.endswith(_GENERATED)]
    return names
