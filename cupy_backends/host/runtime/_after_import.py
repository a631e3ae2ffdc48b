"""Calls functions once modules have been imported, whoever imports them."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType

Hook = Callable[[ModuleType], None]


class AfterImport(importlib.abc.MetaPathFinder):
    """A finder for ``sys.meta_path``; it has to come before the others.

    Args:
        hooks (dict): Functions to call with a module, by its name, once it
            was imported from wherever it is.
    """

    def __init__(self, hooks: Mapping[str, Hook]) -> None:
        self._hooks = dict(hooks)

    def find_spec(self, name: str, path: Sequence[str] | None,
                  target: ModuleType | None = None,
                  ) -> importlib.machinery.ModuleSpec | None:
        if name not in self._hooks:
            return None
        hook = self._hooks.pop(name)
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

    def __init__(self, loader: importlib.abc.Loader, hook: Hook) -> None:
        self._loader = loader
        self._hook = hook

    def create_module(self, spec: importlib.machinery.ModuleSpec
                      ) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # The module is to look as if nobody had been in between.
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._hook(module)
