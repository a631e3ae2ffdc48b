"""The edited source tree: upstream's sdist, our files, our edits."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cupy_overlay import _apply
from cupy_overlay import _edits

# The folders of the repository that are laid over the sdist.
PACKAGES = ('cupy', 'cupyx', 'cupy_backends')
_MANIFEST = '.cupy-overlay-files'
_GENERATED = ('.pyc', '.so', '.o')
_CIMPORT = re.compile(
    r'^[ \t]*from\s+([\w.]+)\s+cimport\s+(\([^)]*\)|[^\n#]*)'
    r'|^[ \t]*cimport\s+([\w.]+)'
    r'|^[ \t]*include\s+["\']([^"\']+)["\']', re.MULTILINE)


class OverlayError(Exception):
    """A file of ours would replace one of upstream's."""


def unpack(sdist: Path) -> dict[str, bytes]:
    """Reads an sdist; names are relative to its top folder."""
    files: dict[str, bytes] = {}
    with tarfile.open(sdist) as archive:
        for member in archive:
            stream = archive.extractfile(member)
            name = member.name.partition('/')[2]
            if stream is None or '..' in name.split('/'):
                continue
            files[name] = stream.read()
    return files


def overlay(root: Path) -> dict[str, bytes]:
    """Reads our files below ``cupy``, ``cupyx`` and ``cupy_backends``."""
    files: dict[str, bytes] = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob('*')):
            if path.is_file() and not _ignored(path.relative_to(root)):
                files[path.relative_to(root).as_posix()] = path.read_bytes()
    return files


def _ignored(path: Path) -> bool:
    hidden = any(part.startswith('.') or part == '__pycache__'
                 for part in path.parts)
    return hidden or path.suffix in _GENERATED or '.so.' in path.name


def compose(pristine: Mapping[str, bytes], ours: Mapping[str, bytes],
            edits: list[_edits.Edit]) -> dict[str, bytes]:
    """Lays our files over upstream's and applies the edits.

    Raises:
        OverlayError: one of our files has the name of one of upstream's.
        EditError: an edit does not fit.
    """
    for name in ours:
        if name in pristine:
            raise OverlayError(
                f'{name} is a file of upstream; the overlay may only add '
                'files, so write an edit (edits/*.toml) instead')
    files = {**pristine, **ours}
    files.update(edited(pristine, edits))
    return files


def edited(pristine: Mapping[str, bytes], edits: list[_edits.Edit]) \
        -> dict[str, bytes]:
    """The upstream files that the edits change, as they are then."""
    texts = {edit.file: pristine[edit.file].decode() for edit in edits
             if edit.file in pristine}
    changed = _apply.edit_texts(texts, edits, fresh=True)
    return {file: text.encode() for file, text in changed.items()}


def write(tree: Path, files: Mapping[str, bytes]) -> list[str]:
    """Makes a folder hold these files; unchanged ones are not touched.

    Files of an earlier call that are gone now are removed; others (what a
    compiler left there) stay.

    Returns:
        The names of the files written.
    """
    manifest = tree / _MANIFEST
    before = manifest.read_text('utf-8').split('\n') \
        if manifest.is_file() else []
    for name in set(filter(None, before)) - files.keys():
        (tree / name).unlink(missing_ok=True)
    written = [name for name, content in files.items()
               if _write_file(tree / name, content)]
    manifest.write_text('\n'.join(sorted(files)), 'utf-8')
    return written


def _write_file(path: Path, content: bytes) -> bool:
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


# Which extension modules to rebuild ------------------------------------------

def module_name(pyx: str) -> str:
    """``cupy/_core/_kernel.pyx`` is ``cupy._core._kernel``."""
    return pyx.rsplit('.', 1)[0].replace('/', '.')


def affected(files: Mapping[str, bytes], changed: Iterable[str]) -> list[str]:
    """The extension modules that depend on any of the changed sources.

    Args:
        files: the edited tree.
        changed: names of added and edited files.
    """
    cython = {name: text.decode() for name, text in files.items()
              if name.endswith(('.pyx', '.pxd', '.pxi'))}
    direct = {name: set(_depends(name, text, cython))
              for name, text in cython.items()}
    wanted = {name for name in changed if name in cython}
    return sorted(module_name(name) for name in cython
                  if name.endswith('.pyx') and wanted & _closure(name, direct))


def _depends(name: str, text: str, known: Mapping[str, str]) \
        -> Iterator[str]:
    own = name.rsplit('.', 1)[0] + '.pxd'
    if own in known:
        yield own
    for found in _CIMPORT.finditer(text):
        package, names, module, included = found.groups()
        if included:
            yield name.rsplit('/', 1)[0] + '/' + included
            continue
        for dotted in _candidates(package, names, module):
            pxd = dotted.replace('.', '/') + '.pxd'
            if pxd in known:
                yield pxd


def _candidates(package: str | None, names: str | None,
                module: str | None) -> Iterator[str]:
    if package is None:
        yield module or ''
        return
    yield package
    for item in (names or '').strip('()').split(','):
        yield f'{package}.{item.split(" as ")[0].strip()}'


def _closure(name: str, direct: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += direct.get(current, ())
    return found
