"""How a call of a CuPy callable was written, in the form overrides receive.

The rules are those of NumPy's ufuncs: which keywords there are, what ``out``
may be, and which names are renamed.  The values are not looked at.
"""

cdef object _MISSING = object()

UFUNC_KEYWORDS = frozenset([
    'out', 'where', '_where', 'casting', 'order', 'subok', 'dtype',
    'signature', 'sig'])
KERNEL_KEYWORDS = frozenset(['out', 'size', 'stream', 'block_size'])
GUFUNC_KEYWORDS = frozenset([
    'out', 'axes', 'axis', 'keepdims', 'casting', 'order', 'subok', 'dtype',
    'signature', 'sig'])


cdef tuple normalize_call(
        func, tuple args, dict kwargs, frozenset allowed):
    """Returns the outputs and the keywords that overrides receive.

    Args:
        func: The callable, with ``nin`` and ``nout``.
        args (tuple): Inputs and perhaps outputs.
        kwargs (dict): Keywords as given; left as they are.
        allowed (frozenset): Names of the keywords that there are.

    Returns:
        tuple: Outputs as of :func:`normalize_out`, and the keywords in the
        order in which NumPy has them.
    """
    _check_names(func, kwargs, allowed)
    kwargs = kwargs.copy()
    _rename_where(kwargs)
    cdef tuple outs = _outputs(func.nin, func.nout, args, kwargs)
    if outs:
        kwargs['out'] = outs
    else:
        kwargs.pop('out', None)
    _rename_sig(kwargs)
    return outs, kwargs


cdef check_arity(func, Py_ssize_t n):
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
    outs = _outputs(nin, nout, args, kwargs)
    kwargs.pop('out', None)
    return outs


cdef tuple _outputs(
        Py_ssize_t nin, Py_ssize_t nout, tuple args, dict kwargs):
    cdef bint by_position = len(args) > nin
    if len(kwargs) == 0 or 'out' not in kwargs:
        return _positional_out(nout, args[nin:]) if by_position else ()
    out = kwargs['out']
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


cdef take_where(dict kwargs):
    """Takes ``where``, also under CuPy's former private name."""
    where = kwargs.pop('_where', None)
    if 'where' not in kwargs:
        return where
    if where is not None:
        raise TypeError("cannot specify both 'where' and '_where'")
    where = kwargs.pop('where')
    return None if where is True else where


cdef refuse(dict kwargs):
    # Names only: the text of a value may copy an array from the device.
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
