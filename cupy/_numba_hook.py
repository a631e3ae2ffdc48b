"""Makes ``numba.vectorize(target='cuda')`` a ufunc of CuPy.

Once both CuPy and numba are imported, in either order, numba's decorators
build :class:`cupyx.numba.UFunc` for the target ``'cuda'``. Nothing of numba
is imported here. ``CUPY_NUMBA_UFUNCS=0`` in the environment leaves numba as
it is; so does numba's simulator.
"""
from __future__ import annotations

import os
import sys

from cupy._core import _ufunc_registry
from cupy_backends.host.runtime import _after_import


_installed = False


def install(always=False):
    """Registers now what is imported, and the rest when it is.

    Args:
        always (bool): Whatever the environment says.
    """
    global _installed
    if _installed or (
            not always and os.environ.get('CUPY_NUMBA_UFUNCS') == '0'):
        return
    _installed = True
    later = {}
    for name, callback in _CALLBACKS.items():
        module = sys.modules.get(name)
        if module is None or _ufunc_registry.initializing(module):
            later[name] = callback
        else:
            callback(module)
    sys.meta_path.insert(0, _after_import.AfterImport(later))


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
