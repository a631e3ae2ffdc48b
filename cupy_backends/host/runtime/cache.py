"""The disk cache of object code.

One file per kernel: a line of hexadecimal SHA-256 over all that follows, a
line of JSON, the object code.  Files appear whole (written aside, then
renamed); one that is damaged counts as absent.
"""
from __future__ import annotations

import hashlib
import os
from pathlib import Path
import tempfile
from typing import Any
import json


def directory() -> Path:
    """Returns the cache directory: ``CUPY_HOST_CACHE_DIR``, or
    ``~/.cupy/host_cache`` beside CuPy's own kernel cache."""
    chosen = os.environ.get('CUPY_HOST_CACHE_DIR')
    return Path(chosen) if chosen else Path.home() / '.cupy' / 'host_cache'


def load(key: str) -> tuple[Any, bytes] | None:
    """Returns metadata and object code, or None if there is no such entry.

    Args:
        key (str): Name of the entry.
    """
    try:
        content = (directory() / key).read_bytes()
    except OSError:
        return None
    digest, _, rest = content.partition(b'\n')
    if hashlib.sha256(rest).hexdigest().encode() != digest:
        return None
    metadata, _, image = rest.partition(b'\n')
    return json.loads(metadata), image


def store(key: str, metadata: Any, image: bytes) -> None:
    """Adds an entry; a cache that cannot be written is no error.

    Args:
        key (str): Name of the entry.
        metadata: Anything that fits into JSON.
        image (bytes): Object code.
    """
    rest = json.dumps(metadata).encode() + b'\n' + image
    content = hashlib.sha256(rest).hexdigest().encode() + b'\n' + rest
    folder = directory()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix='.new-')
        with os.fdopen(handle, 'wb') as file:
            file.write(content)
        os.replace(name, folder / key)
    except OSError:
        # A full or read-only disk costs time, not results.
        pass
