"""Imports the host device's builds of a few of CuPy's modules.

CuPy's own builds of these contain the CUDA runtime, or kernels for real
GPUs.  Ours lie in ``modules/``, named by their full dotted names, and come
before those on the import path.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

from cupy_backends.host.runtime import _after_import


def _builds(folder: Path) -> dict[str, Path]:
    """Returns the modules in ``folder`` that this interpreter can import,
    by their dotted names."""
    found: dict[str, Path] = {}
    # The most specific suffix comes first.
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        for path in sorted(folder.glob(f'*{suffix}')):
            name = path.name.removesuffix(suffix)
            if '-' not in name:  # not one of a longer suffix
                found.setdefault(name, path)
    return found


class Finder(_after_import.AfterImport):
    """A finder for ``sys.meta_path``.

    Args:
        folder (Path): Where the builds lie.
        after_import (dict): As of :class:`~._after_import.AfterImport`.
    """

    def __init__(self, folder: Path, after_import: Mapping[
            str, _after_import.Hook] | None = None) -> None:
        super().__init__(after_import or {})
        self.builds = _builds(folder)

    def find_spec(self, name: str, path: Sequence[str] | None,
                  target: ModuleType | None = None,
                  ) -> importlib.machinery.ModuleSpec | None:
        if name in self.builds:
            return importlib.util.spec_from_file_location(
                name, self.builds[name])
        return super().find_spec(name, path, target)
