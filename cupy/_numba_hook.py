"""Makes ``numba.vectorize(target='cuda')`` a ufunc of CuPy.

Once both CuPy and numba are imported, in either order, numba's decorators
build :class:`cupyx.numba.UFunc` for the target ``'cuda'``. Nothing of numba
is imported here. ``CUPY_NUMBA_UFUNCS=0`` in the environment leaves numba as
it is; so does numba's simulator.
"""
from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys


_waiting = None


def install(always=False):
    """Registers now what is imported, and the rest when it is.

    Args:
        always (bool): Whatever the environment says.
    """
    global _waiting
    if _waiting is not None or (
            not always and os.environ.get('CUPY_NUMBA_UFUNCS') == '0'):
        return
    _waiting = {name for name in _CALLBACKS if not _ready(name)}
    for name in _CALLBACKS.keys() - _waiting:
        _CALLBACKS[name](sys.modules[name])
    if _waiting:
        sys.meta_path.insert(0, _WhenImported(_waiting))


def _ready(name):
    module = sys.modules.get(name)
    return module is not None and not module.__spec__._initializing


class _WhenImported(importlib.abc.MetaPathFinder):
    """Calls back once a module has been executed."""

    def __init__(self, names):
        self._names = names

    def find_spec(self, name, path, target=None):
        if name not in self._names:
            return None
        self._names.discard(name)  # also keeps find_spec from recursing
        if not self._names:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, _CALLBACKS[name])
        return spec


class _Loader(importlib.abc.Loader):

    def __init__(self, loader, callback):
        self._loader = loader
        self._callback = callback

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._callback(module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


def _register_decorators(module):
    """Replaces the builders of ``module.Vectorize`` and ``GUVectorize``."""
    from numba.core import config
    if config.ENABLE_CUDASIM:
        return
    for name, builder in ('Vectorize', _vectorize), (
            'GUVectorize', _guvectorize):
        registry = getattr(module, name).target_registry
        registry.ondemand.pop('cuda', None)
        registry.pop('cuda', None)  # numba refuses a second one
        registry['cuda'] = builder


def _vectorize(*args, **kwargs):
    from cupyx.numba import _registration
    return _registration.VectorizeBuilder(*args, **kwargs)


def _guvectorize(*args, **kwargs):
    from cupyx.numba import _registration
    return _registration.GUVectorizeBuilder(*args, **kwargs)


def _patch_dispatchers(module):
    """Lets ufuncs that numba itself has built ask overrides first."""
    for name in 'CUDAUFuncDispatcher', 'CUDAGeneralizedUFunc':
        cls = getattr(module, name, None)
        if cls is not None:
            cls.__call__ = _asking(cls.__call__)


def _asking(call):
    def __call__(self, *args, **kwargs):
        from cupyx.numba import _registration
        return _registration.call_dispatcher(call, self, args, kwargs)

    __call__.__doc__ = call.__doc__
    return __call__


# Module of numba -> what to do when it has been imported.
_CALLBACKS = {
    'numba.np.ufunc': _register_decorators,
    'numba.cuda.np.ufunc.decorators': _register_decorators,
    'numba.cuda.vectorizers': _patch_dispatchers,
}
