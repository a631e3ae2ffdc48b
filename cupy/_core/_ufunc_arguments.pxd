cdef frozenset UFUNC_KEYWORDS
cdef frozenset KERNEL_KEYWORDS
cdef frozenset GUFUNC_KEYWORDS

cdef check_arity(func, Py_ssize_t n)
cdef tuple normalize_call(
    func, tuple args, dict kwargs, frozenset allowed)
cdef tuple normalize_out(
    Py_ssize_t nin, Py_ssize_t nout, tuple args, dict kwargs)
cpdef tuple single_out(out)
cdef take_where(dict kwargs)
cdef refuse(dict kwargs)


# What a call without outputs and keywords pays is in line.

cdef inline tuple pop_out(
        Py_ssize_t nin, Py_ssize_t nout, tuple args, dict kwargs):
    if len(kwargs) == 0 and len(args) <= nin:
        return ()
    return normalize_out(nin, nout, args, kwargs)


cdef inline tuple with_outputs(
        Py_ssize_t nin, Py_ssize_t nout, tuple args, dict kwargs):
    if len(kwargs) == 0 or 'out' not in kwargs:
        return args
    return args[:nin] + normalize_out(nin, nout, args, kwargs)


cdef inline pop_where(dict kwargs):
    return None if len(kwargs) == 0 else take_where(kwargs)


cdef inline check_consumed(dict kwargs):
    if len(kwargs) != 0:
        refuse(kwargs)
