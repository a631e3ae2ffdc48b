"""The override protocol of CuPy's callables (NEP 13).

The layers are those of NumPy's implementation: *detect* (is there an
override at all), *collect* (one entry for each type) and *dispatch* (whom to
ask, in which order).

An operand's type may define ``__cuda_array_ufunc__``, which receives the
CuPy callable, or else ``__array_ufunc__``, which receives the counterpart
in NumPy or SciPy where there is one.  Both are looked up on the type and
follow the rules of NEP 13.
"""
from cpython.object cimport PyObject
from cpython.ref cimport Py_TYPE

import numpy


cdef extern from 'Python.h':
    ctypedef struct _Type 'PyTypeObject':
        void* tp_getattro
    PyObject* _PyType_Lookup(_Type* t, object name)


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
} | {numpy.dtype(c).type for c in numpy.typecodes['All']}

cdef object _numpy_default = numpy.ndarray.__array_ufunc__
cdef object _cupy_default = None


cdef _initialize():
    # Not at import time, since cupy.ndarray is defined by a module that
    # imports this one.
    global _ndarray_type, _cupy_default
    from cupy._core import core
    _cupy_default = core.ndarray.__array_ufunc__
    _plain_types.add(core.ndarray)
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


cdef bint lacks(t, name):
    """Whether type ``t`` has no attribute ``name``, without an exception.

    To raise and catch one costs as much as the rest of a dispatch. An
    attribute of the metaclass counts; who looks up by rules of its own is
    asked.
    """
    cdef _Type* meta = <_Type*>Py_TYPE(t)
    return (meta.tp_getattro == (<_Type*><PyObject*>type).tp_getattro
            and _PyType_Lookup(<_Type*><PyObject*>t, name) == NULL
            and _PyType_Lookup(meta, name) == NULL)


cdef _lookup(t, bint* native):
    """Returns the override of type ``t``.

    Args:
        t (type): Type of an operand.
        native (bint*): Set to whether it is ``__cuda_array_ufunc__``.

    Returns:
        ``_MISSING`` where there is none, ``None`` for a type that opts out.
    """
    native[0] = False
    if not lacks(t, '__cuda_array_ufunc__'):
        method = getattr(t, '__cuda_array_ufunc__', _MISSING)
        if method is not _MISSING:
            native[0] = True
            return method
    if lacks(t, '__array_ufunc__'):
        return _MISSING
    method = getattr(t, '__array_ufunc__', _MISSING)
    if method is _numpy_default or method is _cupy_default:
        return _MISSING
    return method


cdef bint is_array(x) except -1:
    """Whether ``x`` is a :class:`cupy.ndarray` or of a subclass."""
    if _ndarray_type == NULL:
        _initialize()
    return isinstance(x, <object>_ndarray_type)


cpdef bint has_override(x) except -1:
    """Whether the type of ``x`` overrides or opts out of ufuncs."""
    if is_plain(x):
        return False
    if _ndarray_type == NULL:
        _initialize()
    cdef bint native
    return _lookup(type(x), &native) is not _MISSING


cdef bint overrides_numpy(t) except -1:
    # A type with __cuda_array_ufunc__ alone is unknown to NumPy: it will be
    # asked when the CuPy callable is called.
    if _ndarray_type == NULL:
        _initialize()
    method = getattr(t, '__array_ufunc__', _MISSING)
    return not (method is _MISSING or method is _cupy_default
                or method is _numpy_default)


# Collect
# -------

cdef class _Override:
    """One type's override and the first operand of that type."""

    cdef readonly object operand, method
    cdef readonly bint native  # by __cuda_array_ufunc__
    cdef bint asked

    @staticmethod
    cdef _Override of(operand, method, bint native):
        cdef _Override made = _Override.__new__(_Override)
        made.operand = operand
        made.method = method
        made.native = native
        return made


cdef list collect(tuple operands):
    """Returns the overrides of ``operands``, one for each type.

    Raises:
        TypeError: A type opts out. It wins over all that would accept.
    """
    cdef list found = []
    cdef _Override seen
    cdef bint native
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
            method = _lookup(t, &native)
            if method is _MISSING:
                continue
            if method is None:
                name = '__cuda_array_ufunc__' if native else '__array_ufunc__'
                raise TypeError(
                    f'operand {t.__name__!r} does not support ufuncs '
                    f'({name}=None)')
            found.append(_Override.of(x, method, native))
    return found


# Dispatch
# --------

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
    cdef tuple operands = inputs + outs if outs else inputs
    if len(kwargs) != 0 and 'where' in kwargs:
        operands += (kwargs['where'],)
    cdef list found = collect(operands)
    if not found:
        return not_overridden
    if outs:
        kwargs['out'] = outs
    cdef _Override override = _next(found)
    while override is not None:
        override.asked = True
        args = (override.operand, func if override.native else counterpart,
                method) + inputs
        result = (override.method(*args, **kwargs) if len(kwargs) != 0
                  else override.method(*args))
        if result is not NotImplemented:
            return result
        override = _next(found)
    if all([_converts(o) for o in found]):
        return not_overridden
    raise TypeError(_all_declined(counterpart, method, inputs, outs, kwargs))


cdef _Override _next(list found):
    """Returns the first, not asked yet, that none of a subtype follows."""
    cdef _Override one, other
    cdef Py_ssize_t i, k
    cdef object t  # else isinstance() would not ask __instancecheck__
    for i in range(len(found)):
        one = found[i]
        if one.asked:
            continue
        t = type(one.operand)
        for k in range(i + 1, len(found)):
            other = found[k]
            if (not other.asked and type(other.operand) is not t
                    and isinstance(other.operand, t)):
                break
        else:
            return one
    return None


cdef bint _converts(_Override override) except -1:
    """Whether the declining operand has device data for the default."""
    t = type(override.operand)
    if is_array(override.operand):
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
    if is_array(x) or hasattr(t, '__cuda_array_interface__'):
        shape = getattr(x, 'shape', None)
        dtype = getattr(x, 'dtype', None)
        return f'<{t.__name__} shape={shape} dtype={dtype}>'
    return repr(x)
