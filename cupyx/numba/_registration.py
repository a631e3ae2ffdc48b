"""CuPy's ufuncs as numba's target ``'cuda'``."""
from __future__ import annotations

import warnings

from cupy import _numba_hook
from cupyx.numba import _arguments
from cupyx.numba import _device_function
from cupyx.numba import _gufunc
from cupyx.numba import _types
from cupyx.numba import _ufunc


def register():
    """Makes numba's decorators build ufuncs of CuPy for ``target='cuda'``.

    ``numba.vectorize`` and ``numba.guvectorize`` then return
    :class:`UFunc` and :class:`GUFunc`, and ufuncs that numba itself has
    built ask their operands for overrides. ``import cupy`` does this, unless
    ``CUPY_NUMBA_UFUNCS=0`` is set in the environment.
    """
    _numba_hook.install(always=True)


def as_ufunc(function):
    """Makes a ufunc of CuPy of one that numba has built for CUDA.

    Args:
        function: What ``numba.vectorize(target='cuda')`` or
            ``numba.guvectorize(target='cuda')`` have returned: a
            ``CUDAUFuncDispatcher`` or a ``CUDAGeneralizedUFunc``. A ufunc of
            CuPy is returned as it is.

    Returns:
        UFunc or GUFunc: It has the same signatures.

    Raises:
        TypeError: It is none of these.
    """
    if isinstance(function, (_ufunc.UFunc, _gufunc.GUFunc)):
        return function
    known = getattr(function, '_cupy_ufunc', None)
    if known is None:
        if hasattr(function, 'kernelmap'):
            known = _as_gufunc(function)
        elif hasattr(function, 'functions'):
            known = _as_ufunc(function)
        else:
            raise TypeError(
                f'{function!r} is no ufunc that numba has built for CUDA. '
                'Use cupyx.numba.vectorize for a Python function.')
        function._cupy_ufunc = known
    return known


def _as_ufunc(function):
    """Rebuilds a CUDAUFuncDispatcher from its kernels."""
    [_, kernel], *_ = function.functions.values()
    signatures = [
        _types.to_numba(result)(*map(_types.to_numba, dtypes))
        for dtypes, (result, _) in function.functions.items()]
    return _ufunc.UFunc(_core(kernel), signatures)


def _as_gufunc(function):
    """Rebuilds a CUDAGeneralizedUFunc from its kernels."""
    [_, kernel], *_ = function.kernelmap.values()
    engine = function.engine
    layout = '->'.join(','.join(f'({",".join(dims)})' for dims in side)
                       for side in (engine.sin, engine.sout))
    core = _core(kernel)
    signatures = [
        k.py_func.__globals__['__core__'].signatures[0]
        for _, k in function.kernelmap.values()]
    return _gufunc.GUFunc(core, signatures, layout)


def _core(kernel):
    """Returns the user's function, which the kernel's code calls."""
    return _device_function.python_function(
        kernel.py_func.__globals__['__core__'])


def call_dispatcher(call, function, args, kwargs):
    """Calls a ufunc of numba, unless an operand overrides it."""
    inputs, outputs = _arguments.kinds_of(args, kwargs)
    if (inputs | outputs) & _arguments.FOREIGN:
        return as_ufunc(function)(*args, **kwargs)
    return call(function, *args, **kwargs)


class _Builder:
    """What numba's decorators drive: collects signatures, then builds."""

    def __init__(self, func, identity, cache, targetoptions):
        # Ufuncs are always cached on disk, whatever ``cache`` says.
        self._func = func
        self._signatures = []
        self._options = {'identity': identity}
        options = dict(targetoptions or {})
        if not options.pop('nopython', True):
            raise TypeError('nopython flag must be True')
        self._options['fastmath'] = options.pop('fastmath', False)
        if options:
            raise self._unknown(', '.join(map(repr, options)))

    @staticmethod
    def _unknown(options):
        return TypeError(
            f'The following target options are not supported: {options}')

    def add(self, sig):
        """Adds a signature."""
        self._signatures.append(sig)

    def disable_compile(self):
        """Signatures are final in any case."""


class VectorizeBuilder(_Builder):
    """Builds a ufunc for ``numba.vectorize``."""

    def __init__(self, func, identity=None, cache=False, targetoptions=None):
        if 'nopython' in (targetoptions or {}):
            warnings.warn('nopython is redundant: target \'cuda\' has no '
                          'other mode', RuntimeWarning, stacklevel=4)
        super().__init__(func, identity, cache, targetoptions)

    @staticmethod
    def _unknown(options):
        return KeyError(f'Unrecognized options: {options}')

    def build_ufunc(self):
        return _ufunc.UFunc(self._func, self._signatures, **self._options)


class GUVectorizeBuilder(_Builder):
    """Builds a generalized ufunc for ``numba.guvectorize``."""

    def __init__(self, func, signature, identity=None, cache=False,
                 targetoptions=None, writable_args=()):
        super().__init__(func, identity, cache, targetoptions)
        self._layout = signature
        if writable_args:
            raise TypeError('target \'cuda\' has no writable_args')

    def build_ufunc(self):
        return _gufunc.GUFunc(
            self._func, self._signatures, self._layout, **self._options)

