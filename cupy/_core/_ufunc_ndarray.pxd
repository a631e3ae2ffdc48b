from cupy._core._ufunc_override cimport has_override
from cupy._core._ufunc_override cimport is_plain
from cupy._core._ufunc_override cimport not_overridden

cpdef array_ufunc(ufunc, method, tuple inputs, dict kwargs)
cpdef override_of(t, default)
cpdef compare(int op, x, y)


cdef inline bint opts_out(object x) except -1:
    """Whether an operator has to leave the call to its operand ``x``."""
    return not is_plain(x) and override_of(type(x), not_overridden) is None


cdef inline bint any_override(object x, object y) except -1:
    """Whether an operator has to call the ufunc in place of a short cut."""
    if is_plain(x) and is_plain(y):
        return False
    return has_override(x) or has_override(y)
