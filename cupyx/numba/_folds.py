"""Reductions and scans with a function of two arguments.

Elements are combined in their order, so that the function need not be
commutative. Where there are few long rows, several threads fold a part of a
row each: a function that is not associative then gives another result than
in NumPy, which goes through a row from its start.
"""
from __future__ import annotations

import functools
import math

import numpy

import cupy
from cupyx.numba import _types

_MANY_THREADS = 1 << 15
_SHORT = 256


class Fold:
    """Kernels that fold with one loop of a ufunc.

    Args:
        function (DeviceFunction): Takes one or two values of a dtype and
            returns one of that dtype.
    """

    def __init__(self, function):
        self._function = function
        self.dtype = function.out_dtypes[0]

    def reduce(self, x, initial=None, where=None):
        """Reduces the middle axis of an array of three dimensions.

        Args:
            x (cupy.ndarray): C-contiguous, of the loop's dtype.
            initial: Scalar to start with, or None.
            where (cupy.ndarray): Boolean, C-contiguous, of x's shape; needs
                ``initial``.

        Returns:
            cupy.ndarray: Shape ``(a, b)`` for ``x`` of ``(a, n, b)``.
        """
        a, n, b = x.shape
        if where is not None and a == b == 1:
            x, where = x[where].reshape(1, -1, 1), None
        start = numpy.zeros((), self.dtype) if initial is None else (
            numpy.asarray(initial, self.dtype))
        # A part of a masked row may have no element, and so no value.
        chunk = _chunk(x.shape) if where is None else max(n, 1)
        part = self._parts(x, chunk, start, initial is not None, where)
        while part.shape[1] > 1:
            part = self._parts(part, _chunk(part.shape), start, False, None)
        return part[:, 0]

    def _parts(self, x, chunk, start, has_start, where):
        """Folds each ``chunk`` elements of the rows."""
        a, n, b = x.shape
        chunks = max(1, -(-n // chunk))
        out = cupy.empty((a, chunks, b), self.dtype)
        _launch(self._kernel('fold_part'), out.size, (
            x, out, start, has_start, x if where is None else where,
            where is not None, n, b, chunk, chunks, out.size))
        return out

    def accumulate(self, x):
        """Accumulates along the middle axis; same shape."""
        a, n, b = x.shape
        out = cupy.empty_like(x)
        chunk = _chunk(x.shape)
        chunks = -(-n // chunk)
        before = x
        if chunks > 1:
            before = self.accumulate(self._parts(
                x, chunk, numpy.zeros((), self.dtype), False, None))
        _launch(self._kernel('scan_part'), a * chunks * b, (
            x, out, before, n, b, chunk, chunks, a * chunks * b))
        return out

    def reduceat(self, x, starts, stops):
        """Reduces pieces of the middle axis.

        Args:
            starts, stops (cupy.ndarray): int64; a piece has one element at
                least.

        Returns:
            cupy.ndarray: Shape ``(a, len(starts), b)``.
        """
        a, n, b = x.shape
        out = cupy.empty((a, starts.size, b), self.dtype)
        _launch(self._kernel('fold_pieces'), out.size, (
            x, out, starts, stops, n, b, starts.size, out.size))
        return out

    def at(self, x, places, values, order):
        """Combines elements with values, in place, one value at a time.

        Args:
            x (cupy.ndarray): One-dimensional, of the loop's dtype.
            places (cupy.ndarray): int64, sorted: elements of ``x``.
            values (cupy.ndarray): Of the loop's dtype.
            order (cupy.ndarray): int64: which value belongs to a place.
        """
        _launch(self._kernel('fold_at'), places.size, (
            x, places, values, order, places.size))

    def _kernel(self, name):
        return _kernel(self._function, name)


@functools.cache
def _kernel(function, name):
    values = 'a, b' if len(function.in_dtypes) == 2 else 'a'
    source = _SOURCE.format(
        preamble=function.preamble, combine=f'{function}({values})',
        type=_types.c_name(function.out_dtypes[0]))
    return cupy.RawKernel(source, name)


def _launch(kernel, size, arguments):
    if size:
        arguments = [numpy.int64(x) if type(x) is int else x
                     for x in arguments]
        kernel((-(-size // 128),), (128,), tuple(arguments))


def _chunk(shape):
    """Returns how many elements of a row one thread folds."""
    a, n, b = shape
    wanted = max(1, _MANY_THREADS // max(1, a * b))
    return max(_SHORT, -(-n // wanted))


def as_rows(x, axes):
    """Returns a view, or a copy, with the axes as the middle one of three.

    Args:
        x (cupy.ndarray): Any array.
        axes (tuple of int): Sorted axes; they are combined in C order.
    """
    if not axes:
        return cupy.ascontiguousarray(x).reshape(-1, 1, 1)
    n = math.prod(x.shape[k] for k in axes)
    first, last = axes[0], axes[-1]
    if axes == tuple(range(first, last + 1)):
        a = math.prod(x.shape[:first])
        b = math.prod(x.shape[last + 1:])
        return cupy.ascontiguousarray(x).reshape(a, n, b)
    kept = [k for k in range(x.ndim) if k not in axes]
    x = cupy.ascontiguousarray(x.transpose(*kept, *axes))
    return x.reshape(-1 if n else math.prod(x.shape[:len(kept)]), n, 1)


_SOURCE = '''#include <cupy/complex.cuh>
#include <cupy/carray.cuh>
{preamble}
typedef {type} T;
typedef long long i64;
__device__ inline T combine(T a, T b) {{ return {combine}; }}
#define THREAD ((i64)blockDim.x * blockIdx.x + threadIdx.x)

extern "C" __global__ void fold_part(
    const T *x, T *out, T start, bool has_start, const bool *where,
    bool masked, i64 n, i64 b, i64 chunk, i64 chunks, i64 size) {{
  const i64 i = THREAD;
  if (i >= size) return;
  const i64 column = i % b, part = i / b % chunks, row = i / b / chunks;
  const i64 stop = min(n, (part + 1) * chunk);
  i64 k = part * chunk;
  T sum = start;
  if (k < stop && (!has_start || part > 0)) {{
    sum = x[(row * n + k) * b + column];
    ++k;
  }}
  for (; k < stop; ++k) {{
    const i64 place = (row * n + k) * b + column;
    if (!masked || where[place]) sum = combine(sum, x[place]);
  }}
  out[i] = sum;
}}

extern "C" __global__ void scan_part(
    const T *x, T *out, const T *before, i64 n, i64 b, i64 chunk, i64 chunks,
    i64 size) {{
  const i64 i = THREAD;
  if (i >= size) return;
  const i64 column = i % b, part = i / b % chunks, row = i / b / chunks;
  const i64 stop = min(n, (part + 1) * chunk);
  i64 place = (row * n + part * chunk) * b + column;
  T sum = x[place];
  if (part > 0) {{
    sum = combine(before[(row * chunks + part - 1) * b + column], sum);
  }}
  out[place] = sum;
  for (i64 k = part * chunk + 1; k < stop; ++k) {{
    place += b;
    sum = combine(sum, x[place]);
    out[place] = sum;
  }}
}}

extern "C" __global__ void fold_pieces(
    const T *x, T *out, const i64 *starts, const i64 *stops, i64 n, i64 b,
    i64 pieces, i64 size) {{
  const i64 i = THREAD;
  if (i >= size) return;
  const i64 column = i % b, piece = i / b % pieces, row = i / b / pieces;
  i64 k = starts[piece];
  T sum = x[(row * n + k) * b + column];
  for (++k; k < stops[piece]; ++k) {{
    sum = combine(sum, x[(row * n + k) * b + column]);
  }}
  out[i] = sum;
}}

extern "C" __global__ void fold_at(
    T *x, const i64 *places, const T *values, const i64 *order, i64 size) {{
  i64 i = THREAD;
  if (i >= size || (i > 0 && places[i - 1] == places[i])) return;
  const i64 place = places[i];
  T sum = x[place];
  for (; i < size && places[i] == place; ++i) {{
    sum = combine(sum, values[order[i]]);
  }}
  x[place] = sum;
}}
'''
