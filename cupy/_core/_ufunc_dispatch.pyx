"""What each kind of CuPy callable does before it computes.

It checks how it was called, finds what ``__array_ufunc__`` receives in its
place, and asks the overrides of its operands.
"""
cimport cython

from cupy._core._ufunc_arguments cimport (
    GUFUNC_KEYWORDS, KERNEL_KEYWORDS, UFUNC_KEYWORDS, check_arity,
    normalize_call, normalize_out)
from cupy._core._ufunc_override cimport (
    ask, collect, has_foreign, is_array, is_plain, lacks, not_overridden)

from cupy._core import _fusion_thread_local
from cupy._core import _ufunc_registry


cdef str _LEGACY = '__cupy_override_elementwise_kernel__'
cdef dict _counterparts = _ufunc_registry.resolved


cdef _ask_legacy(func, tuple args, dict kwargs):
    # DistributedArray defines this hook, and an __array_ufunc__ that
    # declines nearly everything: the hook has to come first.
    for x in args:
        if is_plain(x) or lacks(type(x), _LEGACY):
            continue
        hook = getattr(type(x), _LEGACY, None)
        if hook is not None:
            return hook(x, func, *args, **kwargs)
    return not_overridden


cdef _ask(func, counterpart, method, tuple args, dict kwargs,
          frozenset allowed):
    outs, kwargs = normalize_call(func, args, kwargs, allowed)
    return ask(func, counterpart, method, args[:func.nin], outs, kwargs)


cpdef dispatch_ufunc(func, tuple args, dict kwargs):
    """Asks the operands of ``func(*args, **kwargs)`` for an override.

    Returns:
        The answer of the override, or ``not_overridden``.
    """
    result = _ask_legacy(func, args, kwargs)
    if result is not not_overridden:
        return result
    counterpart = _counterparts.get(func)
    if counterpart is None:
        counterpart = _ufunc_registry.counterpart(func)
    if counterpart is None:
        return not_overridden
    if len(kwargs) == 0 and len(args) == func.nin:
        return ask(func, counterpart, '__call__', args, (), kwargs)
    check_arity(func, len(args))
    return _ask(
        func, counterpart, '__call__', args, kwargs, UFUNC_KEYWORDS)


cpdef dispatch_outer(func, tuple args, dict kwargs):
    """Same for ``func.outer(*args, **kwargs)``."""
    counterpart = _ufunc_registry.counterpart(func)
    if counterpart is None:
        return not_overridden
    return _ask(
        func, counterpart, 'outer', args, kwargs, UFUNC_KEYWORDS)


cpdef dispatch_kernel(kernel, tuple args, dict kwargs):
    """Same as :func:`dispatch_ufunc` for an ElementwiseKernel."""
    result = _ask_legacy(kernel, args, kwargs)
    if result is not not_overridden:
        return result
    if len(args) != kernel.nin and len(args) != kernel.nargs:
        return not_overridden  # the kernel has an error text of its own
    return _ask(
        kernel, kernel, '__call__', args, kwargs, KERNEL_KEYWORDS)


cdef _dispatch_gufunc(func, tuple args, dict kwargs):
    counterpart = _ufunc_registry.counterpart(func)
    check_arity(func, len(args))
    if 'axis' in kwargs and 'axes' in kwargs:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    return _ask(
        func, func if counterpart is None else counterpart, '__call__',
        args, kwargs, GUFUNC_KEYWORDS)


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
            check_arity(self, len(args))
            outs = normalize_out(self.nin, self.nout, args, kwargs)
            args = args[:self.nin]
            if outs:
                kwargs['out'] = outs
        _check_strings(kwargs)
        return call(self, *args, **kwargs)

    __call__.__doc__ = call.__doc__
    return __call__


cdef _check_strings(dict kwargs):
    # Comparing what is no string with one might ask it for an override.
    for name in ('casting', 'order'):
        value = kwargs.get(name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f'{name} must be str, not {type(value).__name__}')


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
            found = [o for o in collect(args) if not is_array(o.operand)]
            if any([not o.native for o in found]):
                return self.func(*args)
            if found:
                result = ask(self, self, '__call__', args, (), {})
                if result is not not_overridden:
                    return result
        return call(self, *args)

    __call__.__doc__ = call.__doc__
    return __call__
