from cpython.object cimport PyObject
from cpython.ref cimport Py_TYPE
from cpython.set cimport PySet_Contains


# The exact type cupy.ndarray, or NULL until the first foreign operand is
# seen.  Borrowed: the type lives as long as the process.
cdef PyObject* _ndarray_type
cdef set _plain_types

cdef object not_overridden


cdef inline bint is_plain(object x):
    """Tells by the exact type alone that ``x`` cannot override."""
    cdef PyObject* t = <PyObject*>Py_TYPE(x)
    if t == _ndarray_type or t == <PyObject*>int or t == <PyObject*>float:
        return True
    return PySet_Contains(_plain_types, <object>t)


cdef inline bint has_foreign(tuple args, dict kwargs):
    """Whether an operand may have an override (NEP 13 or legacy).

    This is all that a call on :class:`cupy.ndarray` and scalars pays.
    """
    for x in args:
        if not is_plain(x):
            return True
    return len(kwargs) != 0 and _has_foreign_keyword(kwargs)


cdef inline bint opts_out(object x) except -1:
    """Whether an operator has to leave the call to its operand ``x``."""
    return not is_plain(x) and override_of(type(x), not_overridden) is None


cdef bint _has_foreign_keyword(dict kwargs)

cpdef dispatch_ufunc(func, tuple args, dict kwargs)
cpdef dispatch_kernel(kernel, tuple args, dict kwargs)
cdef tuple normalize_out(
    Py_ssize_t nin, Py_ssize_t nout, tuple args, dict kwargs)
cdef pop_where(dict kwargs)
cdef check_consumed(dict kwargs)
cpdef bint has_override(x) except -1
cpdef override_of(t, default)
cpdef compare(int op, x, y)
cpdef array_ufunc(ufunc, method, tuple inputs, dict kwargs)
