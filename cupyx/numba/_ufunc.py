"""Ufuncs whose loops numba has compiled."""
from __future__ import annotations

import inspect
import operator
import threading

import numpy

import cupy
from cupy._core import _fusion_thread_local
from cupy._core import _kernel
from cupy._core import _ufunc_dispatch
from cupy._core import _ufunc_override
from cupy._core import _ufunc_registry
from cupyx.numba import _arguments
from cupyx.numba import _device_function
from cupyx.numba import _methods
from cupyx.numba import _pickling
from cupyx.numba import _types


_ONLY_ARRAYS = {cupy.ndarray}
_dtype_of = operator.attrgetter('dtype')


class UFunc(_pickling.Picklable, cupy.ufunc):
    """A ufunc of CuPy that computes a Python function.

    With signatures, it has a loop for each and chooses the first to which
    the operands can be cast safely, as NumPy does. Without, it compiles a
    loop for each combination of dtypes when it is first needed.

    Operands are arrays of CuPy, device arrays of numba, arrays of the host
    and scalars; objects with ``__array_ufunc__`` override the call. The
    result is where the operands are: on the host if all of them are, as a
    scalar if all of them are scalars.

    Args:
        pyfunc (function): Python function of scalars, or a function of
            numba.
        signatures: Sequence of signatures as numba takes them.
        identity (int): Start of reductions over nothing: 0, 1,
            ``'reorderable'`` or None.
        fastmath (bool): Trade accuracy for speed.

    Attributes:
        identity: As given.

    .. seealso:: :func:`cupyx.numba.vectorize`
    """

    signature = None

    def __init__(self, pyfunc, signatures=(), *, identity=None,
                 fastmath=False):
        pyfunc = _device_function.python_function(pyfunc)
        self._pyfunc = pyfunc
        self._options = {'identity': identity, 'fastmath': fastmath}
        self._signatures = tuple(map(_types.parse, signatures))
        self._lock = threading.Lock()
        functions = [self._compile(*s) for s in self._signatures]
        # Dtypes of the inputs -> function, and ufunc with that loop.
        self._functions = {f.in_dtypes: f for f in functions}
        self._ufuncs = {}
        nin, nout = _arity(pyfunc, functions)
        super().__init__(
            _device_function.identifier(pyfunc.__name__), nin, nout,
            _not_compiled(nin, nout))
        self._fixed = self._ufunc_of(
            list(self._functions.values())) if functions else None
        self.__doc__ = pyfunc.__doc__
        self.__module__ = pyfunc.__module__
        self.__qualname__ = pyfunc.__qualname__
        _ufunc_registry.register(self)

    @property
    def __name__(self):
        return self._pyfunc.__name__

    @property
    def identity(self):
        identity = self._options['identity']
        return None if identity == 'reorderable' else identity

    @property
    def types(self):
        """Dtypes of the loops that there are, as ``'dd->d'``."""
        return [_characters(f.in_dtypes) + '->' + _characters(f.out_dtypes)
                for f in list(self._functions.values())]

    def __call__(self, *args, **kwargs):
        """Applies the function elementwise.

        Args:
            args: Operands: arrays or scalars; outputs may follow.
            out: Output array or tuple of output arrays.
            where: Boolean array; elsewhere outputs stay as they are.
            dtype: Dtype of the outputs, which chooses the loop.
            casting (str): What may be cast to ``out``.
            stream: Stream of numba or CuPy; default is CuPy's current one.

        Returns:
            Output or tuple of outputs.

        Raises:
            TypeError: No loop fits the operands; the text lists those there
                are.
            numba.core.errors.NumbaError: numba cannot compile the function
                for the dtypes of the operands.
        """
        # The common case takes as little time as it can.
        if (not kwargs and set(map(type, args)) == _ONLY_ARRAYS
                and len(args) == self.nin):
            ufunc = self._fixed or self._ufuncs.get(
                tuple(map(_dtype_of, args)))
            if ufunc is not None:
                try:
                    return ufunc(*args)
                except TypeError:
                    pass  # the text of the other way names the loops
        return self._call(args, kwargs)

    def _call(self, args, kwargs):
        """Does what a call with other operands or with keywords needs."""
        stream = kwargs.pop('stream', None)
        if stream is not None:
            with _arguments.on_stream(stream):
                return self._call(args, kwargs)
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f'{self.__name__}() takes {self.nin} inputs and '
                f'{self.nout} outputs, but {len(args)} arguments were given')
        inputs, outputs = _arguments.kinds_of(args, kwargs)
        kinds = inputs | outputs
        on_device = inputs & _arguments.DEVICE and not kinds & ~(
            _arguments.DEVICE | _arguments.SCALAR)
        if on_device or _fusion_thread_local.is_fusing():
            return self._run(*args, **kwargs)
        if kinds & _arguments.FOREIGN:
            result = _ufunc_dispatch.dispatch_ufunc(self, args, kwargs)
            if result is not _ufunc_override.NOT_OVERRIDDEN:
                return result
        if kinds & _arguments.HOST and not kwargs and len(args) == self.nin:
            if any(map(_arguments.is_date, args)):
                return self._call_with_dates(args)
        return _arguments.call(self._run, self.nin, args, kwargs)

    def _call_with_dates(self, args):
        arrays = [numpy.asarray(x) for x in args]
        function = self.function(tuple(x.dtype for x in arrays))
        return _arguments.call_with_dates(
            self._single(function), arrays, function)

    def _run(self, *args, **kwargs):
        """Computes with operands on the device."""
        ufunc = self._choose(args[:self.nin], kwargs.get('dtype'))
        return self._computed(ufunc, args, kwargs)

    def _computed(self, ufunc, args, kwargs):
        try:
            return ufunc(*args, **kwargs)
        except TypeError as error:
            if not str(error).startswith('Wrong type'):
                raise
        more = f' and dtype={kwargs["dtype"]}' if 'dtype' in kwargs else ''
        raise _arguments.no_loop(
            self, _arguments.dtype_names(args[:self.nin]), more)

    def _choose(self, args, dtype):
        """Returns the ufunc that computes these operands."""
        if self._fixed is not None:
            return self._fixed
        if dtype is not None:
            return self._compiled((numpy.dtype(dtype),) * self.nin)
        return self._compiled(loop_dtypes(args))

    def _compiled(self, dtypes):
        """Returns the ufunc with the loop for these dtypes."""
        found = self._ufuncs.get(dtypes)
        if found is None:
            with self._lock:
                found = self._ufuncs.get(dtypes)
                if found is None:
                    function = self._compile(map(_types.to_numba, dtypes))
                    self._check_outputs(function)
                    self._functions[dtypes] = function
                    found = self._single(function)
        return found

    def _single(self, function):
        """Returns the ufunc with this loop alone."""
        return self._ufuncs.get(function.in_dtypes) or (
            self._ufuncs.setdefault(
                function.in_dtypes, self._ufunc_of([function])))

    def _compile(self, argtypes, restype=None):
        return _device_function.DeviceFunction(
            self._pyfunc, argtypes, restype, self._options['fastmath'])

    def _check_outputs(self, function):
        if len(function.out_dtypes) != self.nout:
            raise TypeError(
                f'{self.__name__}() returns {len(function.out_dtypes)} '
                'values: give its signatures, they say so beforehand')

    def _ufunc_of(self, functions):
        ops = tuple(_kernel._Op(
            tuple(map(_types.storage, f.in_dtypes)),
            tuple(map(_types.storage, f.out_dtypes)),
            _routine(f), None, None) for f in functions)
        return _kernel.ufunc(
            self.name, self.nin, self.nout,
            _kernel._Ops(ops), ''.join(f.preamble for f in functions))

    def function(self, dtypes):
        """Returns the function of the loop for operands of these dtypes.

        Raises:
            TypeError: The signatures hold none.
        """
        if self._fixed is None:
            self._compiled(dtypes)
            return self._functions[dtypes]
        for function in self._functions.values():
            if all(map(numpy.can_cast, dtypes, function.in_dtypes)):
                return function
        raise _arguments.no_loop(self, map(str, dtypes))

    # Methods: CuPy's check the arguments and ask overrides, then call these.

    _reduce = _methods.reduce
    _accumulate = _methods.accumulate
    _reduceat = _methods.reduceat
    _at = _methods.at

    def reduce(self, array, *args, **kwargs):
        """Reduces an array along axes.

        .. seealso:: :meth:`numpy.ufunc.reduce`
        """
        return _arguments.call_method(super().reduce, array, args, kwargs)

    def accumulate(self, array, *args, **kwargs):
        """Accumulates the results along an axis.

        .. seealso:: :meth:`numpy.ufunc.accumulate`
        """
        return _arguments.call_method(super().accumulate, array, args, kwargs)

    def reduceat(self, array, *args, **kwargs):
        """Reduces slices of an array along an axis.

        .. seealso:: :meth:`numpy.ufunc.reduceat`
        """
        return _arguments.call_method(super().reduceat, array, args, kwargs)

    def at(self, a, indices, *b):
        """Applies the function in place to the elements at ``indices``.

        .. seealso:: :meth:`numpy.ufunc.at`
        """
        device = _arguments.to_device(a)
        super().at(device, indices, *map(_arguments.to_device, b))
        if _arguments.kind(a) == _arguments.HOST:
            a[...] = device.get()

    def outer(self, a, b, **kwargs):
        """Applies the function to all pairs of elements of two arrays.

        .. seealso:: :meth:`numpy.ufunc.outer`
        """
        kinds = _arguments.kind(a) | _arguments.kind(b)
        return _arguments.call_method(
            super().outer, a, (b,), kwargs, kinds)

    @property
    def _arguments(self):
        return self._pyfunc, self._signatures

    def __repr__(self):
        return f'<ufunc {self.__name__!r} compiled by numba>'


def loop_dtypes(args):
    """Returns the dtypes for which a loop without signatures is compiled.

    Python scalars are weak (NEP 50): they take part in the dtype of the
    other operands, all of which keep theirs.
    """
    strong = [a.dtype for a in args if hasattr(a, 'dtype')]
    if len(strong) == len(args):
        return tuple(strong)
    return tuple(
        a.dtype if hasattr(a, 'dtype') else
        numpy.result_type(a, *strong) if type(a) is not bool else
        numpy.dtype(bool) for a in args)


def _arity(pyfunc, functions):
    """Returns the numbers of inputs and outputs."""
    for function in functions:
        return len(function.in_dtypes), len(function.out_dtypes)
    code = pyfunc.__code__
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        raise TypeError(f'{pyfunc.__name__}() has to name its arguments')
    return code.co_argcount, 1


def _characters(dtypes):
    return ''.join(d.char for d in dtypes)


def _routine(function):
    ins = [f'in{i}' for i in range(len(function.in_dtypes))]
    outs = [f'out{i}' for i in range(len(function.out_dtypes))]
    if len(outs) == 1:
        return f'out0 = {function}({", ".join(ins)})'
    return f'{function}({", ".join(ins + outs)})'


def _not_compiled(nin, nout):
    """Returns the loops of a ufunc that has none by itself."""
    def fail():
        raise TypeError('the loops of this ufunc are compiled when called')
    bool_ = (numpy.dtype(bool),)
    return _kernel._Ops(
        (_kernel._Op(bool_ * nin, bool_ * nout, None, fail, None),))
