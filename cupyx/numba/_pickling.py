"""Pickles of ufuncs: by name where they are importable, else by value."""
from __future__ import annotations

import pickle
import sys


def reduce(func, arguments, options):
    """Returns what ``func.__reduce__`` returns.

    The Python function goes by value, since the ufunc has taken its name.

    Args:
        func: The ufunc.
        arguments (tuple): Positional arguments that make another one.
        options (dict): Keyword arguments.
    """
    module = sys.modules.get(func.__module__)
    if func.__module__ != '__main__' and (
            getattr(module, func.__qualname__, None) is func):
        return func.__qualname__
    from numba import cloudpickle
    return _rebuild, (
        type(func), cloudpickle.dumps((arguments, options)))


def _rebuild(cls, state):
    arguments, options = pickle.loads(state)
    return cls(*arguments, **options)
