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


cdef bint _has_foreign_keyword(dict kwargs)

cdef bint lacks(t, name)
cdef bint overrides_numpy(t) except -1
cdef bint is_array(x) except -1
cpdef bint has_override(x) except -1
cdef list collect(tuple operands)
cpdef ask(func, counterpart, method, tuple inputs, tuple outs, dict kwargs)
