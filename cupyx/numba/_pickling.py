"""Pickles of ufuncs: by name where they are importable, else by value."""
from __future__ import annotations

import pickle
import sys

from cupyx.numba._choice import compiler


class Picklable:
    """Mixin of ufuncs, which are never copied within a process.

    Subclasses define ``_arguments``, which make another one, and have
    ``_options``, which are keyword arguments.
    """

    def __reduce__(self):
        module = sys.modules.get(self.__module__)
        if self.__module__ != '__main__' and (
                getattr(module, self.__qualname__, None) is self):
            return self.__qualname__
        # The Python function goes by value, since the ufunc has its name.
        cloudpickle = compiler.part('cloudpickle')
        return _rebuild, (
            type(self), cloudpickle.dumps((self._arguments, self._options)))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _rebuild(cls, state):
    arguments, options = pickle.loads(state)
    return cls(*arguments, **options)
