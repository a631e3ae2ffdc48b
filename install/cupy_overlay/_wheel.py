"""Reads and writes wheels; the same content gives the same bytes."""

from __future__ import annotations

import base64
import csv
import email.parser
import email.policy
import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from cupy_overlay import _pins

# Before 1980 there is no time in a zip file.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_EXECUTABLE = ('.so', '.so.1', '.so.10')


class WheelError(Exception):
    """A base wheel is not what it says it is."""


def read(path: Path) -> dict[str, bytes]:
    """Reads a wheel and checks it against its RECORD.

    Raises:
        WheelError: a file is missing or has another digest than recorded.
    """
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()
                 if not name.endswith('/')}
    check_record(files, path.name)
    return files


def check_record(files: Mapping[str, bytes], label: str) -> None:
    """Raises :class:`WheelError` unless all files are as recorded."""
    record = next((name for name in files
                   if name.endswith('.dist-info/RECORD')), None)
    if record is None:
        raise WheelError(f'{label} has no RECORD')
    rows = csv.reader(files[record].decode().splitlines())
    recorded = {row[0]: row[1] for row in rows if row}
    for name, content in files.items():
        if name == record or not recorded.get(name):
            continue
        if recorded[name] != record_digest(content):
            raise WheelError(f'{label}: {name} differs from its RECORD')
    missing = recorded.keys() - files.keys()
    if missing:
        raise WheelError(f'{label}: {min(missing)} is recorded but missing')


def record_digest(content: bytes) -> str:
    """A file's digest in the form that RECORD uses."""
    digest = hashlib.sha256(content).digest()
    return 'sha256=' + base64.urlsafe_b64encode(digest).rstrip(b'=').decode()


def record(files: Mapping[str, bytes], name: str) -> bytes:
    """The RECORD of these files; ``name`` is its own."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    for file in sorted(files):
        writer.writerow([file, record_digest(files[file]), len(files[file])])
    writer.writerow([name, '', ''])
    return text.getvalue().encode()


def with_record(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Adds the RECORD to the files of a wheel."""
    name = f'{_dist_info(files)}/RECORD'
    return {**files, name: record(files, name)}


def write(path: Path, files: Mapping[str, bytes]) -> None:
    """Writes a wheel: sorted, with fixed times and modes, dist-info last.

    Args:
        path: where; replaced at once when complete.
        files: all files but RECORD.
    """
    info = _dist_info(files)
    content = with_record(files)
    kind = zipfile.ZIP_DEFLATED
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + '.part')
    with zipfile.ZipFile(partial, 'w', kind) as archive:
        for name in sorted(content, key=lambda n: (n.startswith(info), n)):
            archive.writestr(_entry(name, kind), content[name])
    os.replace(partial, path)


def _entry(name: str, kind: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.external_attr = (0o100000 | mode(name)) << 16
    entry.compress_type = kind
    # As on Unix whatever writes it.
    entry.create_system = 3
    return entry


def mode(name: str) -> int:
    """A file's permissions: those that installers give, whatever umask."""
    return 0o755 if name.endswith(_EXECUTABLE) else 0o644


def _dist_info(files: Mapping[str, bytes]) -> str:
    names = {name.split('/')[0] for name in files
             if name.split('/')[0].endswith('.dist-info')}
    if len(names) != 1:
        raise WheelError(f'a wheel has one .dist-info, not {sorted(names)}')
    return names.pop()


# Metadata --------------------------------------------------------------------

def rename(files: Mapping[str, bytes], pins: _pins.Pins, base: _pins.Base,
           licences: Mapping[str, bytes], tag: str) -> dict[str, bytes]:
    """Gives a base wheel's files the fork's version, metadata and licences.

    Args:
        files: the base wheel's files.
        pins: the fork's and upstream's versions.
        base: which base it is.
        licences: our licence files, by name.
        tag: the wheel's tag, e.g. ``cp311-cp311-linux_x86_64``.

    Returns:
        The files without RECORD, below the new dist-info name.
    """
    old = _dist_info(files)
    new = f'{base.name.replace("-", "_")}-{pins.fork_version}.dist-info'
    renamed = {new + name.removeprefix(old) if name.startswith(old) else name:
               content for name, content in files.items()
               if name != f'{old}/RECORD'}
    added = {f'{new}/licenses/cupy-ufunc-override/{name}': content
             for name, content in licences.items()}
    renamed.update(added)
    names = [name.removeprefix(f'{new}/licenses/') for name in sorted(added)]
    text = renamed[f'{new}/METADATA'].decode()
    renamed[f'{new}/METADATA'] = metadata(text, pins, base, names).encode()
    renamed[f'{new}/WHEEL'] = (
        'Wheel-Version: 1.0\nGenerator: cupy_overlay\n'
        f'Root-Is-Purelib: false\nTag: {tag}\n').encode()
    return renamed


def metadata(text: str, pins: _pins.Pins, base: _pins.Base,
             licences: list[str]) -> str:
    """The base's METADATA with the fork's version, licences and extra.

    The requirements stay, so whatever needs CuPy finds the same.
    """
    parser = email.parser.Parser(policy=email.policy.compat32)
    message = parser.parsestr(text)
    if message['Name'] != base.name or message['Version'] != pins.version:
        raise WheelError(
            f'the base is {message["Name"]} {message["Version"]}, not '
            f'{base.name} {pins.version}')
    head, _, body = text.partition('\n\n')
    lines = head.split('\n')
    lines[lines.index(f'Version: {pins.version}')] = \
        f'Version: {pins.fork_version}'
    last = max(n for n, line in enumerate(lines)
               if line.startswith('License-File:'))
    lines[last + 1:last + 1] = [f'License-File: {name}' for name in licences]
    last = max(n for n, line in enumerate(lines)
               if line.startswith(('Requires-Dist:', 'Provides-Extra:')))
    lines[last + 1:last + 1] = host_extra(base)
    return '\n'.join(lines) + '\n\n' + body


def host_extra(base: _pins.Base) -> list[str]:
    """METADATA lines: what the host device needs besides CuPy."""
    toolkit = f'cuda-toolkit[cudart,nvrtc]=={base.cuda}.*'
    return ['Provides-Extra: host',
            'Requires-Dist: llvmlite>=0.46,<0.51; extra == "host"',
            f'Requires-Dist: {toolkit}; extra == "host"']
