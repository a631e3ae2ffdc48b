"""The part of :class:`cupy.ndarray` in the override protocol (NEP 13).

These are the base method ``__array_ufunc__``, and what the operators have to
know of the other operand.
"""
import numpy

from cupy._core._ufunc_override cimport (
    is_array, is_plain, overrides_numpy)

from cupy._core import _ufunc_registry


# Scalars are operands for native code, or get its error.
cdef set _SCALAR_TYPES = {bool, int, float, complex} | {
    numpy.dtype(c).type for c in numpy.typecodes['All']}
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
        if not is_plain(x) and overrides_numpy(type(x)):
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
    t = type(x)
    if t in _SCALAR_TYPES or isinstance(x, numpy.ndarray) or is_array(x):
        return True
    return not is_plain(x) and (
        hasattr(t, '__cuda_array_interface__')
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
