"""What the methods of the ufuncs compute when no operand overrides them.

Each takes arrays of CuPy; how the caller may spell the arguments is
:mod:`cupy._core._ufunc_methods`' business.
"""
from __future__ import annotations

import functools

import numpy
from numpy.lib import array_utils

import cupy
from cupyx.numba import _folds


def reduce(ufunc, array, axis=0, dtype=None, out=None, keepdims=False,
           initial=None, where=None):
    """Implements :meth:`numpy.ufunc.reduce`."""
    array = cupy.asarray(array)
    axes = _axes(axis, array.ndim)
    kept = tuple(1 if k in axes else n for k, n in enumerate(array.shape)
                 if keepdims or k not in axes)
    fold = fold_of(ufunc, dtype or array.dtype, 'reduce')
    if initial is None and (where is not None or 0 in array.shape):
        initial = ufunc.identity
    if initial is None and where is not None:
        raise ValueError(
            f'reduction operation {ufunc.__name__!r} does not have an '
            'identity, so to use a where mask one has to specify \'initial\'')
    x = _folds.as_rows(array.astype(fold.dtype, copy=False), axes)
    if initial is None and x.shape[1] == 0 and 0 not in kept:
        raise ValueError(
            f'zero-size array to reduction operation {ufunc.__name__} which '
            'has no identity')
    if where is not None:
        where = _folds.as_rows(cupy.broadcast_to(
            cupy.asarray(where, dtype=bool), array.shape), axes)
    return _finish(fold.reduce(x, initial, where).reshape(kept), out)


def accumulate(ufunc, array, axis=0, dtype=None, out=None):
    """Implements :meth:`numpy.ufunc.accumulate`."""
    array = cupy.asarray(array)
    if array.ndim == 0:
        raise TypeError('cannot accumulate on a scalar')
    axes = _axes(axis, array.ndim)
    fold = fold_of(ufunc, dtype or array.dtype, 'accumulate')
    x = _folds.as_rows(array.astype(fold.dtype, copy=False), axes)
    return _finish(fold.accumulate(x).reshape(array.shape), out)


def reduceat(ufunc, array, indices, axis=0, dtype=None, out=None):
    """Implements :meth:`numpy.ufunc.reduceat`."""
    array = cupy.asarray(array)
    axes = _axes(axis, array.ndim)
    fold = fold_of(ufunc, dtype or array.dtype, 'reduceat')
    n = array.shape[axes[0]]
    starts, stops = _pieces(ufunc, cupy.asnumpy(indices), n)
    x = _folds.as_rows(array.astype(fold.dtype, copy=False), axes)
    result = fold.reduceat(x, cupy.asarray(starts), cupy.asarray(stops))
    shape = list(array.shape)
    shape[axes[0]] = starts.size
    return _finish(result.reshape(shape), out)


def at(ufunc, a, indices, *b):
    """Implements :meth:`numpy.ufunc.at`."""
    dtypes = [a.dtype] + [cupy.asarray(x).dtype for x in b]
    fold = fold_of(ufunc, numpy.result_type(*dtypes), 'at')
    if not numpy.can_cast(fold.dtype, a.dtype, 'same_kind'):
        raise TypeError(
            f'{ufunc.__name__}.at cannot cast its results from {fold.dtype} '
            f'to {a.dtype}')
    every = cupy.arange(a.size, dtype=numpy.int64).reshape(a.shape)
    places = every[indices]
    values = cupy.broadcast_to(
        cupy.asarray(b[0] if b else 0, dtype=fold.dtype), places.shape)
    places = places.ravel()
    order = cupy.argsort(places, kind='stable')
    work = cupy.ascontiguousarray(a, dtype=fold.dtype).ravel()
    fold.at(work, places[order], cupy.ascontiguousarray(values).ravel(),
            order)
    if work.data.ptr != a.data.ptr:
        a[...] = work.reshape(a.shape)


@functools.cache
def fold_of(ufunc, dtype, method):
    """Returns the fold for arrays of a dtype.

    Raises:
        TypeError: No loop returns what it takes.
    """
    dtype = numpy.dtype(dtype)
    for _ in range(2):
        function = ufunc.function((dtype,) * ufunc.nin)
        dtype = function.out_dtypes[0]
        if set(function.in_dtypes) == {dtype}:
            return _folds.Fold(function)
    raise TypeError(
        f'{ufunc.__name__}.{method} needs a loop whose result has the dtype '
        f'of its operands; there are {", ".join(ufunc.types)}')


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    if ndim == 0 and axis in (0, -1):
        return ()
    return tuple(sorted(array_utils.normalize_axis_tuple(axis, ndim)))


def _pieces(ufunc, indices, n):
    """Returns where the pieces of ``reduceat`` start and stop."""
    starts = indices.astype(numpy.int64)
    for i in starts[(starts < 0) | (starts >= n)]:
        raise IndexError(f'index {i} out-of-bounds in '
                         f'{ufunc.__name__}.reduceat [0, {n})')
    stops = numpy.append(starts[1:], n)
    return starts, numpy.maximum(stops, starts + 1)


def _finish(result, out):
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(
            f'the output has the shape {out.shape}, not {result.shape}')
    cupy.copyto(out, result, casting='same_kind')
    return out
