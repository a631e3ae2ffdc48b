"""Pickles and copies CuPy's callables.

Libraries that receive one as the ``ufunc`` of an override put it into task
graphs and send it to other processes.  A public ufunc goes by its name, as
NumPy's do, and stays the object that it is.  What a user made is rebuilt
without its loaded kernels: their handles mean nothing elsewhere, and the
copy would unload them under the original.
"""
from __future__ import annotations

import copyreg
import importlib

from cupy._core import _gufuncs
from cupy._core import _kernel
from cupy._core import _ufunc_registry
from cupy.cuda import function


def _reduce(func):
    place = _ufunc_registry.place(func)
    if place is not None:
        return _named, place
    return tuple(map(_rebuilding, func.__reduce_ex__(2)))


def _named(module, name):
    return getattr(importlib.import_module(module), name)


def _rebuilding(part):
    """Returns a part of what ``__reduce__`` gave, without kernels."""
    if type(part) is tuple:
        return tuple(map(_rebuilding, part))
    if type(part) is dict and any(
            isinstance(v, function.Function) for v in part.values()):
        return {}
    return part


for _type in _kernel.ufunc, _kernel.ElementwiseKernel, _gufuncs._GUFunc:
    copyreg.pickle(_type, _reduce)
