"""Overrides of CuPy's callables by their operands (NEP 13).

The layers are those of NumPy's implementation: *detect* (is there an
override at all), *collect* (one entry for each type), *normalize* (what the
override receives) and *dispatch* (whom to ask, in which order).

An operand's type may define ``__cuda_array_ufunc__``, which receives the
CuPy callable, or else ``__array_ufunc__``, which receives the counterpart
in NumPy or SciPy where there is one.  Both are looked up on the type and
follow the rules of NEP 13.
"""
cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_TYPE

import numpy

from cupy._core import _fusion_thread_local
from cupy._core import _ufunc_registry


cdef class _NotOverridden:

    def __repr__(self):
        return '<not overridden>'


# Returned by the dispatch functions when the default implementation is to
# run. None and NotImplemented are results that an override may give.
not_overridden = _NotOverridden()
NOT_OVERRIDDEN = not_overridden  # for Python modules

cdef object _MISSING = _NotOverridden()

_ndarray_type = NULL
_plain_types = {
    bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset,
    slice, type(None), type(Ellipsis), type(NotImplemented), numpy.ndarray,
} | set(numpy.dtype(c).type for c in numpy.typecodes['All'])

# Those of them that are operands for native code, or get its error.
cdef set _operand_types = {bool, int, float, complex, numpy.ndarray} | set(
    numpy.dtype(c).type for c in numpy.typecodes['All'])

cdef object _numpy_default = numpy.ndarray.__array_ufunc__
cdef object _cupy_default = None


cdef _initialize():
    # Not at import time, since cupy.ndarray is defined by a module that
    # imports this one.
    global _ndarray_type, _cupy_default
    from cupy._core import core
    _cupy_default = core.ndarray.__array_ufunc__
    _plain_types.add(core.ndarray)
    _operand_types.add(core.ndarray)
    _ndarray_type = <PyObject*>core.ndarray


# Detect
# ------

cdef bint _has_foreign_keyword(dict kwargs):
    # Only these keywords hold operands.
    for name in ('out', 'where', '_where'):
        value = kwargs.get(name)
        if type(value) is tuple:
            for x in <tuple>value:
                if not is_plain(x):
                    return True
        elif not is_plain(value):
            return True
    return False


cdef _lookup(t):
    """Returns the override of type ``t`` and the name of its protocol.

    The override is ``_MISSING`` where there is none, ``None`` for a type
    that opts out.
    """
    method = getattr(t, '__cuda_array_ufunc__', _MISSING)
    if method is not _MISSING:
        return method, '__cuda_array_ufunc__'
    method = getattr(t, '__array_ufunc__', _MISSING)
    if method is _numpy_default or method is _cupy_default:
        method = _MISSING
    return method, '__array_ufunc__'


cpdef bint has_override(x) except -1:
    """Whether the type of ``x`` overrides or opts out of ufuncs."""
    if is_plain(x):
        return False
    if _ndarray_type == NULL:
        _initialize()
    return _lookup(type(x))[0] is not _MISSING


# Collect
# -------

cdef class _Override:
    """One type's override and the first operand of that type."""

    cdef readonly object operand, method
    cdef readonly str protocol

    def __init__(self, operand, method, protocol):
        self.operand = operand
        self.method = method
        self.protocol = protocol


cdef list collect(operands):
    """Returns the overrides of ``operands``, one for each type.

    Raises:
        TypeError: A type opts out. It wins over all that would accept.
    """
    cdef list found = []
    cdef _Override seen
    if _ndarray_type == NULL:
        _initialize()
    for x in operands:
        if is_plain(x):
            continue
        t = type(x)
        for seen in found:
            if type(seen.operand) is t:
                break
        else:
            method, protocol = _lookup(t)
            if method is _MISSING:
                continue
            if method is None:
                raise TypeError(
                    f'operand {t.__name__!r} does not support ufuncs '
                    f'({protocol}=None)')
            found.append(_Override(x, method, protocol))
    return found


# Normalize
# ---------

cdef _check_arity(func, int n):
    if not func.nin <= n <= func.nargs:
        raise TypeError(
            f'{func.__name__}() takes from {func.nin} to {func.nargs} '
            f'positional arguments but {n} were given. It must be either '
            f'{func.nin} or {func.nargs} (with outputs).')


cdef tuple normalize_out(
        Py_ssize_t nin, Py_ssize_t nout, tuple args, dict kwargs):
    """Takes ``out`` from ``kwargs`` and the outputs from ``args``.

    Returns:
        tuple: One entry per output, or an empty tuple if none was given.

    Raises:
        TypeError: Outputs are given twice, or an output is given by keyword
            without a tuple and there are several.
        ValueError: The tuple has the wrong length.
    """
    cdef bint by_keyword = len(kwargs) != 0 and 'out' in kwargs
    cdef bint by_position = len(args) > nin
    if not by_keyword:
        if by_position:
            return _positional_out(nout, args[nin:])
        return ()
    out = kwargs.pop('out')
    if by_position:
        raise TypeError("cannot specify 'out' as both a positional and "
                        'keyword argument')
    if out is None or out is Ellipsis:
        return ()
    if type(out) is not tuple:
        if nout != 1:
            raise TypeError("'out' must be a tuple of arrays")
        return (out,)
    if len(out) != nout:
        raise ValueError("The 'out' tuple must have exactly one entry per "
                         'ufunc output')
    return _drop_empty(out)


cpdef tuple single_out(out):
    """Returns the ``out`` keyword of a method as :func:`normalize_out`."""
    return normalize_out(0, 1, (), {'out': out})


cdef tuple _positional_out(Py_ssize_t nout, tuple outs):
    for x in outs:
        if x is Ellipsis:
            raise TypeError('out=... is only allowed as a keyword argument.')
    return _drop_empty(outs + (None,) * (nout - len(outs)))


cdef tuple _drop_empty(tuple outs):
    for x in outs:
        if x is not None:
            return outs
    return ()


cdef pop_where(dict kwargs):
    """Takes ``where``, also under CuPy's former private name."""
    if not kwargs:
        return None
    where = kwargs.pop('_where', None)
    if 'where' not in kwargs:
        return where
    if where is not None:
        raise TypeError("cannot specify both 'where' and '_where'")
    where = kwargs.pop('where')
    return None if where is True else where


cdef check_consumed(dict kwargs):
    # Names only: the text of a value may copy an array from the device.
    if kwargs:
        raise TypeError('Wrong arguments ' + ', '.join(map(repr, kwargs)))


cdef _check_names(func, dict kwargs, frozenset allowed):
    for name in kwargs:
        if name not in allowed:
            raise TypeError(f'{func.__name__}() got an unexpected keyword '
                            f'argument {name!r}')


cdef _rename_where(dict kwargs):
    if kwargs.get('_where', _MISSING) is not _MISSING:
        if 'where' in kwargs:
            raise TypeError("cannot specify both 'where' and '_where'")
        where = kwargs.pop('_where')
        if where is not None:
            kwargs['where'] = where


cdef _rename_sig(dict kwargs):
    if 'sig' in kwargs:
        if 'signature' in kwargs:
            raise TypeError("cannot specify both 'sig' and 'signature'")
        kwargs['signature'] = kwargs.pop('sig')
    if 'signature' in kwargs and 'dtype' in kwargs:
        raise TypeError("cannot specify both 'signature' and 'dtype'")


cdef frozenset _UFUNC_KEYWORDS = frozenset([
    'out', 'where', '_where', 'casting', 'order', 'subok', 'dtype',
    'signature', 'sig'])
cdef frozenset _KERNEL_KEYWORDS = frozenset([
    'out', 'size', 'stream', 'block_size'])
cdef frozenset _GUFUNC_KEYWORDS = frozenset([
    'out', 'axes', 'axis', 'keepdims', 'casting', 'order', 'subok', 'dtype',
    'signature', 'sig'])


# Dispatch
# --------

cdef _ask_legacy(func, tuple args, dict kwargs):
    # DistributedArray defines this hook, and an __array_ufunc__ that
    # declines nearly everything: the hook has to come first.
    for x in args:
        if not is_plain(x):
            hook = getattr(
                type(x), '__cupy_override_elementwise_kernel__', None)
            if hook is not None:
                return hook(x, func, *args, **kwargs)
    return not_overridden


cpdef dispatch_ufunc(func, tuple args, dict kwargs):
    """Asks the operands of ``func(*args, **kwargs)`` for an override.

    Returns:
        The answer of the override, or ``not_overridden``.
    """
    result = _ask_legacy(func, args, kwargs)
    if result is not not_overridden:
        return result
    counterpart = _ufunc_registry.counterpart(func)
    if counterpart is None:
        return not_overridden
    _check_arity(func, len(args))
    return _dispatch(
        func, counterpart, '__call__', args, kwargs, _UFUNC_KEYWORDS)


cpdef dispatch_outer(func, tuple args, dict kwargs):
    """Same for ``func.outer(*args, **kwargs)``."""
    counterpart = _ufunc_registry.counterpart(func)
    if counterpart is None:
        return not_overridden
    return _dispatch(
        func, counterpart, 'outer', args, kwargs, _UFUNC_KEYWORDS)


cpdef dispatch_kernel(kernel, tuple args, dict kwargs):
    """Same as :func:`dispatch_ufunc` for an ElementwiseKernel."""
    result = _ask_legacy(kernel, args, kwargs)
    if result is not not_overridden:
        return result
    if len(args) != kernel.nin and len(args) != kernel.nargs:
        return not_overridden  # the kernel has an error text of its own
    return _dispatch(
        kernel, kernel, '__call__', args, kwargs, _KERNEL_KEYWORDS)


cdef _dispatch_gufunc(func, tuple args, dict kwargs):
    counterpart = _ufunc_registry.counterpart(func)
    _check_arity(func, len(args))
    if 'axis' in kwargs and 'axes' in kwargs:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    return _dispatch(
        func, func if counterpart is None else counterpart, '__call__',
        args, kwargs, _GUFUNC_KEYWORDS)


def overridable_gufunc(call):
    """Makes ``call``, the ``__call__`` of a gufunc class, ask overrides.

    Outputs may be given by position, too.
    """
    @cython.binding(True)  # it has to become a method
    def __call__(self, *args, **kwargs):
        if has_foreign(args, kwargs):
            result = _dispatch_gufunc(self, args, kwargs)
            if result is not not_overridden:
                return result
        if len(args) > self.nin:
            _check_arity(self, len(args))
            outs = normalize_out(self.nin, self.nout, args, kwargs)
            args = args[:self.nin]
            if outs:
                kwargs['out'] = outs
        return call(self, *args, **kwargs)

    __call__.__doc__ = call.__doc__
    return __call__


def overridable_vectorize(call):
    """Same for ``__call__`` of :class:`cupy.vectorize`: inputs only."""
    @cython.binding(True)
    def __call__(self, *args):
        if has_foreign(args, {}):
            result = ask(self, self, '__call__', args, (), {})
            if result is not not_overridden:
                return result
        return call(self, *args)

    __call__.__doc__ = call.__doc__
    return __call__


def overridable_fused(call):
    """Same for ``__call__`` of what :func:`cupy.fuse` returns.

    An operand with ``__cuda_array_ufunc__`` receives the fused function.
    One with ``__array_ufunc__`` knows single ufuncs only, so the function
    runs unfused and each of its ufuncs asks. Subclasses of
    :class:`cupy.ndarray` are fused as such.
    """
    @cython.binding(True)
    def __call__(self, *args):
        if has_foreign(args, {}) and not _fusion_thread_local.is_fusing():
            found = [o for o in collect(args) if not _is_array(o.operand)]
            if any([o.protocol == '__array_ufunc__' for o in found]):
                return self.func(*args)
            if found:
                result = ask(self, self, '__call__', args, (), {})
                if result is not not_overridden:
                    return result
        return call(self, *args)

    __call__.__doc__ = call.__doc__
    return __call__


cdef _dispatch(func, counterpart, method, tuple args, dict kwargs,
               frozenset names):
    _check_names(func, kwargs, names)
    kwargs = kwargs.copy()
    _rename_where(kwargs)
    outs = normalize_out(func.nin, func.nout, args, kwargs.copy())
    # The order of the keywords is NumPy's.
    if outs:
        kwargs['out'] = outs
    else:
        kwargs.pop('out', None)
    _rename_sig(kwargs)
    return ask(func, counterpart, method, args[:func.nin], outs, kwargs)


cpdef ask(func, counterpart, method, tuple inputs, tuple outs, dict kwargs):
    """Asks the overrides of one call, in the order of NEP 13.

    Args:
        func: The CuPy callable.
        counterpart: What ``__array_ufunc__`` receives in its place.
        method (str): ``'__call__'``, ``'reduce'``, ...
        inputs (tuple): Operands as the caller gave them.
        outs (tuple): One entry per output, or empty.
        kwargs (dict): Keywords that the caller gave, in this order; the
            value of ``out`` is replaced by ``outs``.

    Returns:
        The answer, or ``not_overridden`` if nobody overrides, or all who do
        decline and can be converted to :class:`cupy.ndarray`.
    """
    operands = inputs + outs
    if 'where' in kwargs:
        operands += (kwargs['where'],)
    cdef list found = collect(operands)
    if not found:
        return not_overridden
    if outs:
        kwargs['out'] = outs
    cdef list pending = found.copy()
    cdef _Override first
    while pending:
        first = _next(pending)
        if first is None:
            break
        pending.remove(first)
        asked = (func if first.protocol == '__cuda_array_ufunc__'
                 else counterpart)
        result = first.method(first.operand, asked, method, *inputs, **kwargs)
        if result is not NotImplemented:
            return result
    if all([_converts(o) for o in found]):
        return not_overridden
    raise TypeError(_all_declined(counterpart, method, inputs, outs, kwargs))


cdef _Override _next(list pending):
    """Returns the first entry that no entry of a subtype follows."""
    cdef _Override one, other
    cdef Py_ssize_t i
    cdef object t  # else isinstance() would not ask __instancecheck__
    for i, one in enumerate(pending):
        t = type(one.operand)
        for other in pending[i + 1:]:
            if type(other.operand) is not t and isinstance(other.operand, t):
                break
        else:
            return one
    return None


cdef bint _is_array(x) except -1:
    return isinstance(x, <object>_ndarray_type)


cdef bint _converts(_Override override) except -1:
    """Whether the declining operand has device data for the default."""
    t = type(override.operand)
    if _is_array(override.operand):
        return False
    return (hasattr(t, '__cuda_array_interface__')
            or hasattr(t, '__cupy_get_ndarray__'))


def _all_declined(func, method, inputs, outs, kwargs):
    args = [_describe(x) for x in inputs]
    args += [f'{k}={_describe(v)}' for k, v in kwargs.items()]
    types = ', '.join([repr(type(x).__name__) for x in inputs + outs])
    return ('operand type(s) all returned NotImplemented from '
            f'__array_ufunc__({func!r}, {method!r}, {", ".join(args)}): '
            f'{types}')


def _describe(x):
    # The repr of a device array copies it to the host and synchronizes,
    # which would also end a graph capture.
    t = type(x)
    if t.__repr__ is tuple.__repr__ or t.__repr__ is list.__repr__:
        inner = ', '.join([_describe(v) for v in x])
        if isinstance(x, list):
            return f'[{inner}]'
        return f'({inner},)' if len(x) == 1 else f'({inner})'
    if (issubclass(t, <object>_ndarray_type)
            or hasattr(t, '__cuda_array_interface__')):
        shape = getattr(x, 'shape', None)
        dtype = getattr(x, 'dtype', None)
        return f'<{t.__name__} shape={shape} dtype={dtype}>'
    return repr(x)


# The default
# -----------

cdef frozenset _METHODS = frozenset([
    '__call__', 'outer', 'at', 'reduce', 'accumulate', 'reduceat'])
# In the order of Py_LT, Py_LE, ...
cdef tuple _COMPARISONS = (
    numpy.less, numpy.less_equal, numpy.equal, numpy.not_equal,
    numpy.greater, numpy.greater_equal)


cpdef array_ufunc(ufunc, method, tuple inputs, dict kwargs):
    """Implements ``cupy.ndarray.__array_ufunc__``, the base method.

    Like NumPy's, it declines as soon as any operand overrides, so that a
    subclass that calls it through ``super()`` has to unwrap itself first.
    Otherwise the callable of CuPy that stands for ``ufunc`` is called.
    """
    operands = inputs
    if 'out' in kwargs:
        out = kwargs['out']
        operands += out if type(out) is tuple else (out,)
    where = (kwargs['where'],) if 'where' in kwargs else ()
    for x in operands + where:
        if not is_plain(x) and _overrides_numpy(type(x)):
            return NotImplemented
    func = _cupy_callable(ufunc)
    if func is None or method not in _METHODS:
        return NotImplemented
    if method == 'at' or method == 'reduceat':
        operands = operands[:1] + operands[2:]  # the indices may be a list
    for x in operands:
        if x is not None and not _is_operand(x):
            return NotImplemented
    if ufunc in _COMPARISONS:
        inputs = tuple([_unwrap_0d(x) for x in inputs])
    kwargs = _native_keywords(kwargs)
    if method == '__call__':
        return func(*inputs, **kwargs)
    return getattr(func, method)(*inputs, **kwargs)


cdef bint _overrides_numpy(t) except -1:
    # A type with __cuda_array_ufunc__ alone is unknown to NumPy: it will be
    # asked when the CuPy callable is called.
    if _ndarray_type == NULL:
        _initialize()
    method = getattr(t, '__array_ufunc__', _MISSING)
    return not (method is _MISSING or method is _cupy_default
                or method is _numpy_default)


cdef _cupy_callable(ufunc):
    from cupy._core import _gufuncs
    from cupy._core import _kernel
    if isinstance(ufunc, (_kernel.ElementwiseKernel, _gufuncs._GUFunc)):
        return _ufunc_registry.from_counterpart(ufunc) or ufunc
    try:
        return _ufunc_registry.from_counterpart(ufunc)
    except TypeError:  # not hashable: no ufunc
        return None


cdef bint _is_operand(x) except -1:
    """Whether native code takes ``x``, or rejects it with a clear error."""
    if is_plain(x):
        return type(x) in _operand_types
    t = type(x)
    return (issubclass(t, (<object>_ndarray_type, numpy.ndarray))
            or hasattr(t, '__cuda_array_interface__')
            or hasattr(t, '__cupy_get_ndarray__')
            or hasattr(x, '__cuda_array_interface__')
            or hasattr(t, '__cuda_array_ufunc__'))


cdef _unwrap_0d(x):
    # numpy.less(cupy_array, 0-d array): see numpy/numpy#12142. A subclass
    # is left alone, since it may carry more than the value.
    if type(x) is numpy.ndarray and x.ndim == 0:
        return x.item()
    return x


cdef dict _native_keywords(dict kwargs):
    """Translates NumPy's keywords; the meaningless ones are dropped."""
    kwargs = kwargs.copy()
    if kwargs.get('subok') is True:
        del kwargs['subok']
    if 'order' in kwargs and kwargs['order'] in ('K', None):
        del kwargs['order']
    return kwargs


# Operators
# ---------

cpdef override_of(t, default):
    """Returns the override of type ``t``, None if it opts out.

    Unlike a call, an operator has to know of the default methods, too: a
    type that has one is not deferred to. ``default`` stands for neither.
    """
    if hasattr(t, '__cuda_array_ufunc__'):
        return t.__cuda_array_ufunc__
    return getattr(t, '__array_ufunc__', default)


cpdef compare(int op, x, y):
    """Compares by the ufunc of ``op`` (as in ``__richcmp__``)."""
    return _COMPARISONS[op](x, y)
