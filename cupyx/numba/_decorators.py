"""The decorators: numba's ``vectorize`` and ``guvectorize`` for CuPy."""
from __future__ import annotations

import types

from cupyx.numba import _gufunc
from cupyx.numba import _types
from cupyx.numba import _ufunc


def vectorize(signatures_or_function=(), *, identity=None, fastmath=False):
    """Makes a Python function of scalars a ufunc of CuPy.

    Args:
        signatures_or_function: Signature or sequence of signatures as numba
            takes them, for example ``['float64(float64)']``; or the
            function, which then is compiled for the dtypes it meets.
        identity: Start of a reduction over nothing: 0, 1, None or
            ``'reorderable'``.
        fastmath (bool): Trade accuracy for speed.

    Returns:
        UFunc: The ufunc, or a decorator that makes it.

    Example:
        >>> @cupyx.numba.vectorize
        ... def difference(x, y):
        ...     return x * x - y * y
        >>> difference(cupy.arange(3.), 1)
        array([-1.,  0.,  3.])

    .. seealso:: :func:`numba.vectorize`
    """
    options = dict(identity=identity, fastmath=fastmath)
    if (isinstance(signatures_or_function, types.FunctionType)
            or hasattr(signatures_or_function, 'py_func')):
        return _ufunc.UFunc(signatures_or_function, **options)
    signatures = signatures_or_function
    return _decorator(signatures, lambda function, signatures: (
        _ufunc.UFunc(function, signatures, **options)))


def guvectorize(signatures_or_layout, layout=None, *, identity=None,
                fastmath=False):
    """Makes a Python function of arrays a generalized ufunc of CuPy.

    Args:
        signatures_or_layout: Signature or sequence of signatures as numba
            takes them, for example ``['void(float64[:], float64[:])']``; or
            the layout, if the function is to be compiled for the dtypes it
            meets. It then needs its outputs in each call.
        layout (str): Core dimensions, for example ``'(n),(n)->()'``.
        identity: Not used; as :func:`numba.guvectorize` has it.
        fastmath (bool): Trade accuracy for speed.

    Returns:
        A decorator that makes a :class:`GUFunc`.

    Example:
        >>> @cupyx.numba.guvectorize(
        ...     'void(float64[:], float64[:], float64[:])', '(n),(n)->()')
        ... def dot(x, y, result):
        ...     total = 0.
        ...     for i in range(x.shape[0]):
        ...         total += x[i] * y[i]
        ...     result[0] = total
        >>> dot(cupy.ones((2, 3)), cupy.arange(3.))
        array([3., 3.])

    .. seealso:: :func:`numba.guvectorize`
    """
    signatures = signatures_or_layout
    if layout is None:
        signatures, layout = (), signatures_or_layout
    return _decorator(signatures, lambda function, signatures: (
        _gufunc.GUFunc(function, signatures, layout, identity=identity,
                       fastmath=fastmath)))


def _decorator(signatures, make):
    """Returns a decorator; a single signature needs no list around it."""
    if (isinstance(signatures, str) or hasattr(signatures, 'return_type')
            or isinstance(signatures, tuple)
            and any(map(_types.is_type, signatures))):
        signatures = [signatures]

    def decorate(function):
        return make(function, signatures)

    return decorate
