"""Generalized ufuncs whose loops numba has compiled."""
from __future__ import annotations

import functools
import threading

import numpy

import cupy
from cupy._core import _gufuncs
from cupy._core import _ufunc_dispatch
from cupy._core import _ufunc_registry
from cupyx.numba import _arguments
from cupyx.numba import _device_function
from cupyx.numba import _gufunc_kernel
from cupyx.numba import _pickling
from cupyx.numba import _types
from cupyx.numba._types import types


class GUFunc(_pickling.Picklable, _gufuncs._GUFunc):
    """A generalized ufunc of CuPy that runs a Python function.

    The function takes one element of each operand: an array of its core
    dimensions, or a scalar if it has none and the signature says so. It
    writes the results into its last arguments, which are arrays.

    Args:
        pyfunc (function): Python function, or a function of numba.
        signatures: Sequence of signatures as numba takes them:
            ``'void(float64[:], float64[:])'``. Without, the function is
            compiled for the dtypes it meets, and outputs have to be given.
        layout (str): Core dimensions: ``'(n),(n)->()'``.
        identity: Ignored, as by numba's CUDA target.
        fastmath (bool): Trade accuracy for speed.

    .. seealso:: :func:`cupyx.numba.guvectorize`
    """

    def __init__(self, pyfunc, signatures, layout, *, identity=None,
                 fastmath=False):
        pyfunc = _device_function.python_function(pyfunc)
        super().__init__(None, layout, name=pyfunc.__name__,
                         doc=pyfunc.__doc__ or '')
        self._pyfunc = pyfunc
        self._layout = layout
        self._options = {'identity': identity, 'fastmath': fastmath}
        self._signatures = tuple(
            _without_result(_types.parse(s)) for s in signatures)
        self._check_layout()
        self._lock = threading.Lock()
        self._loops = {}
        for argtypes in self._signatures:
            self._add(argtypes)
        self._dynamic = not self._signatures
        self.__module__ = pyfunc.__module__
        self.__qualname__ = pyfunc.__qualname__
        _ufunc_registry.register(self)

    @property
    def _core_ndims(self):
        return [len(dims) for dims in self._core_dims]

    @property
    def types(self):
        """Dtypes of the loops that there are, as ``'dd->d'``."""
        return [loop.types for loop in list(self._loops.values())]

    def _check_layout(self):
        known = {d[0] for dims in self._input_coredimss for d in dims}
        for dims in self._core_dims:
            for name, optional, _ in dims:
                if optional or name not in known:
                    raise ValueError(
                        f'{name!r} in {self._layout!r}: each core dimension '
                        'has to be one of an input, and none is optional')

    def _add(self, argtypes):
        if len(argtypes) != self.nin + self.nout:
            raise TypeError(
                f'a signature of {self.__name__}() needs '
                f'{self.nin + self.nout} arguments, not {len(argtypes)}')
        for i, (t, ndim) in enumerate(zip(argtypes, self._core_ndims)):
            # A scalar output is an array of one element.
            wanted = ndim or int(i >= self.nin or isinstance(t, types.Array))
            if (t.ndim if isinstance(t, types.Array) else 0) != wanted:
                raise TypeError(
                    f'argument {i} of {self.__name__}() is {t}, but '
                    f'{self._layout!r} gives it {ndim} dimensions')
        loop = _gufunc_kernel.Loop(
            self._pyfunc, argtypes, self.nin, self._options['fastmath'])
        return self._loops.setdefault(loop.dtypes, loop)

    def __call__(self, *args, stream=None, **kwargs):
        """Applies the function to all elements of the loop dimensions.

        Args:
            args: Operands: arrays or scalars; outputs may follow.
            out: Output array or tuple of output arrays.
            axes, axis, keepdims: Where the core dimensions are, as in
                NumPy's generalized ufuncs.
            casting (str): What inputs and outputs may be cast to.
            dtype: Dtype of the outputs, which chooses the loop.
            stream: Stream of numba or CuPy; default is CuPy's current one.

        Returns:
            Output or tuple of outputs.
        """
        if not self.nin <= len(args) <= self.nin + self.nout:
            raise TypeError(
                f'{self.__name__}(): the gufunc accepts {_count(self.nin)}, '
                f'or {_count(self.nin + self.nout)} with outputs. '
                f'Got {_count(len(args))}.')
        with _arguments.on_stream(stream):
            return self._overridable(*args, **kwargs)

    def _on_device(self, *args, **kwargs):
        if not (kwargs or self._dynamic) and len(args) == self.nin:
            if any(map(_arguments.is_date, args)):
                return self._call_with_dates(args)
        return _arguments.call(self._run, self.nin, args, kwargs)

    def _call_with_dates(self, args):
        arrays = [numpy.asarray(x) for x in args]
        loop = self._choose(arrays, (), None)
        return _arguments.call_with_dates(
            functools.partial(self._run, loop=loop), arrays, loop)

    _overridable = _ufunc_dispatch.overridable_gufunc(_on_device)

    def _run(self, *args, out=None, axes=None, axis=None, keepdims=False,
             casting='same_kind', dtype=None, order='K', loop=None):
        outs = out if type(out) is tuple else (out,) * self.nout
        loop = loop or self._choose(args, outs, dtype)
        args = [cupy.asarray(x, dtype=_types.storage(d))
                for x, d in zip(args, loop.in_dtypes)]
        in_axes, out_axes, n_kept = self._validate_normalize_axes(
            args, axes=axes, axis=axis, keepdims=keepdims)
        args = [self._core_last(i, x, a)
                for i, (x, a) in enumerate(zip(args, in_axes))]
        sizes, shape = self._dimensions(args)
        order = self._determine_order(args, order)
        results, computed = [], []
        for i, (out, axs, dtype) in enumerate(
                zip(outs, out_axes, loop.out_dtypes), self.nin):
            core = tuple(sizes[d[0]] for d in self._core_dims[i])
            if n_kept:
                core = (1,) * n_kept
            result, y = self._output(
                i, out, shape, core, axs, _types.storage(dtype), casting,
                order)
            results.append(result)
            computed.append(y[(...,) + (0,) * n_kept] if n_kept else y)
        self._launch(loop, args, computed, shape)
        for result, y in zip(results, computed):
            if result.data.ptr != y.data.ptr:
                result[...] = y.reshape(result.shape)
        return results[0] if len(results) == 1 else tuple(results)

    def _choose(self, args, outs, dtype):
        if self._dynamic:
            return self._compiled(args, outs)
        for loop in list(self._loops.values()):
            if dtype is not None:
                if all(d == dtype for d in loop.out_dtypes):
                    return loop
            elif all(_fits(x, d) for x, d in zip(args, loop.in_dtypes)):
                return loop
        raise _arguments.no_loop(self, _arguments.dtype_names(args))

    def _compiled(self, args, outs):
        """Returns the loop for the dtypes of operands and outputs."""
        if any(y is None for y in outs):
            raise TypeError(
                f'{self.__name__}() has no signatures, so its outputs have to '
                'be given: their dtypes choose the loop')
        dtypes = tuple(cupy.asarray(x).dtype for x in (*args, *outs))
        loop = self._loops.get(dtypes)
        if loop is None:
            with self._lock:
                loop = self._add([
                    _array_type(d, ndim or int(i >= self.nin))
                    for i, (d, ndim) in enumerate(
                        zip(dtypes, self._core_ndims))])
        return loop

    def _core_last(self, i, x, axes):
        ndim = self._core_ndims[i]
        if x.ndim < ndim:
            raise ValueError(
                f'operand {i} of {self.__name__}() has {x.ndim} dimensions, '
                f'but {self._layout!r} needs {ndim}')
        order = self._get_transpose(i, axes, x.ndim, ndim) if ndim else None
        return x if order is None else x.transpose(order)

    def _dimensions(self, args):
        """Returns sizes of core dimensions and the shape of the loop."""
        sizes, shapes = {}, []
        for i, (x, dims) in enumerate(zip(args, self._input_coredimss)):
            split = x.ndim - len(dims)
            shapes.append(x.shape[:split])
            for dim, length in zip(dims, x.shape[split:]):
                self._update_dims(i, sizes, dim, length)
        for dims in self._input_coredimss:
            for name, _, _ in dims:
                sizes.setdefault(name, 1)
        return sizes, numpy.broadcast_shapes(*shapes)

    def _output(self, i, out, shape, core, axes, dtype, casting, order):
        """Returns the array for the caller and the one to compute into."""
        full = shape + core
        trans = self._get_transpose(i, axes, len(full), len(core)) if (
            core) else None
        if out is None:
            inverse = None if trans is None else numpy.argsort(trans)
            out = cupy.empty(
                full if inverse is None else [full[k] for k in inverse],
                dtype, order)
        elif not numpy.can_cast(dtype, out.dtype, casting):
            raise TypeError(
                f'cannot cast output {i - self.nin} of {self.__name__}() from '
                f'{dtype} to {out.dtype} with casting {casting!r}')
        view = out if trans is None else out.transpose(trans)
        if view.shape != full:
            raise ValueError(
                f'output {i - self.nin} of {self.__name__}() has the shape '
                f'{view.shape}, not {full}')
        if out.dtype != dtype or not _whole_strides(view, len(core)):
            view = cupy.empty(full, dtype)
        return out, view

    def _launch(self, loop, args, outs, shape):
        operands = []
        for x, ndim in zip([*args, *outs], self._core_ndims):
            core = x.shape[x.ndim - ndim:]
            operands.append(cupy.broadcast_to(x, shape + core))
        # An input that shares memory with an output is read before.
        for i, x in enumerate(operands[:self.nin]):
            if (any(cupy.may_share_memory(x, y) for y in outs)
                    or not _whole_strides(x, self._core_ndims[i])):
                operands[i] = x.copy()
        loop.launch(operands, shape)

    @property
    def _arguments(self):
        return self._pyfunc, self._signatures, self._layout

    def __repr__(self):
        return f'<gufunc {self.__name__!r} {self._layout} compiled by numba>'


def _count(n):
    return f'{n} positional argument' + 's' * (n != 1)


def _whole_strides(x, ndim):
    """Whether the strides of the last dimensions are whole elements.

    Compilers may count strides in elements.
    """
    return not any(s % x.itemsize for s in x.strides[x.ndim - ndim:])


def _without_result(signature):
    """Returns the types of the arguments of a parsed signature."""
    argtypes, restype = signature
    if restype not in (None, types.void):
        raise TypeError(
            'guvectorized functions cannot return values: signature '
            f'{restype(*argtypes)} specifies {restype} return type')
    return argtypes


def _fits(x, dtype):
    """Whether an operand can be cast safely to the dtype of a loop."""
    if hasattr(x, 'dtype'):
        return numpy.can_cast(x.dtype, dtype)
    return numpy.result_type(x, dtype) == dtype


def _array_type(dtype, ndim):
    element = _types.to_numba(dtype)
    return types.Array(element, ndim, 'A') if ndim else element
