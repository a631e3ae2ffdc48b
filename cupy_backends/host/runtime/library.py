"""Finds and loads the shared libraries of the host device.

They carry the names under which CuPy and others look for NVIDIA's, and the
dynamic linker knows a library by that name once it is loaded; so they have
to be first.
"""
from __future__ import annotations

import ctypes
import os
from pathlib import Path

from cupy_backends.host.runtime import abi

DRIVER = 'libcuda.so.1'
_OTHERS = ('libcurand.so.10',)


def directory() -> Path:
    """Returns where the libraries lie.

    ``CUPY_HOST_LIBRARY_DIR`` names another place, for the development of
    the libraries themselves.
    """
    chosen = os.environ.get('CUPY_HOST_LIBRARY_DIR')
    return Path(chosen) if chosen else Path(__file__).parent.parent / 'lib'


def load() -> ctypes.CDLL:
    """Loads the driver library and those beside it.

    Returns:
        ctypes.CDLL: The driver library, its ``hd_*`` functions declared.

    Raises:
        ImportError: They are not there or do not fit.
        RuntimeError: A library of NVIDIA's is loaded under their names.
    """
    path = directory() / DRIVER
    if not path.is_file():
        raise ImportError(
            f'the host device needs {path}, which is not there: this build '
            'of CuPy was made without it')
    _check_not_loaded(path)
    library = ctypes.CDLL(os.fspath(path), mode=ctypes.RTLD_GLOBAL)
    abi.declare(library)
    for name in _OTHERS:
        other = directory() / name
        if other.is_file():
            _check_not_loaded(other)
            ctypes.CDLL(os.fspath(other), mode=ctypes.RTLD_GLOBAL)
    return library


def _check_not_loaded(ours: Path) -> None:
    stem = ours.name.partition('.so')[0] + '.so'
    for path in _mapped_files():
        if path.name.startswith(stem) and not _same(path, ours):
            raise RuntimeError(
                f'the host device cannot be used in this process: {path} is '
                'loaded already. Set CUPY_DEVICE=host in the environment, '
                'and import cupy before libraries that use the GPU')


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:  # deleted since it was loaded
        return a == b


def _mapped_files() -> set[Path]:
    """Returns the files that are mapped into this process."""
    try:
        with open('/proc/self/maps', encoding='utf-8',
                  errors='surrogateescape') as file:
            lines = file.readlines()
    except OSError:
        return set()
    return {Path(fields[5].rstrip('\n')) for fields in
            (line.split(maxsplit=5) for line in lines)
            if len(fields) == 6 and '.so' in fields[5]}
