"""Imports the host device's builds of a few of CuPy's modules.

CuPy's own builds of these contain the CUDA runtime, or kernels for real
GPUs.  Ours lie in ``modules/``, named by their full dotted names, and come
before those on the import path.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
import importlib.abc
import importlib.machinery
import importlib.util
from pathlib import Path
import sys
from types import ModuleType


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


class Finder(importlib.abc.MetaPathFinder):
    """A finder for ``sys.meta_path``.

    Args:
        folder (Path): Where the builds lie.
        after_import (dict): Functions to call with a module, by its name,
            once it was imported from wherever it is.
    """

    def __init__(self, folder: Path, after_import: dict[
            str, Callable[[ModuleType], None]] | None = None) -> None:
        self.builds = _builds(folder)
        self._after_import = dict(after_import or {})

    def find_spec(self, name: str, path: Sequence[str] | None,
                  target: ModuleType | None = None,
                  ) -> importlib.machinery.ModuleSpec | None:
        if name in self.builds:
            return importlib.util.spec_from_file_location(
                name, self.builds[name])
        if name in self._after_import:
            return self._hooked(name, path, target)
        return None

    def _hooked(self, name: str, path: Sequence[str] | None,
                target: ModuleType | None,
                ) -> importlib.machinery.ModuleSpec | None:
        hook = self._after_import.pop(name)
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, 'find_spec'):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _HookedLoader(spec.loader, hook)
                return spec
        return None


class _HookedLoader(importlib.abc.Loader):
    """A loader that calls a function after the module was executed."""

    def __init__(self, loader: importlib.abc.Loader,
                 hook: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._hook = hook

    def create_module(self, spec: importlib.machinery.ModuleSpec
                      ) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._hook(module)
