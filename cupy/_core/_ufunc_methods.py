"""The methods of :class:`cupy.ufunc`, which ask overrides first.

Each method checks how it was called, hands positional arguments to an
override under their names, as NumPy does, and computes by CuPy's own
routines if nobody overrides.
"""
from __future__ import annotations

import numpy

import cupy
from cupy._core import _ufunc_arguments
from cupy._core import _ufunc_dispatch
from cupy._core import _ufunc_override
from cupy._core import _ufunc_registry
from cupy._core._ufunc_override import NOT_OVERRIDDEN


_REDUCE = ('array', 'axis', 'dtype', 'out', 'keepdims', 'initial', 'where')
_ACCUMULATE = ('array', 'axis', 'dtype', 'out')
_REDUCEAT = ('array', 'indices', 'axis', 'dtype', 'out')
_AT = ('a', 'indices', 'b')


def outer(ufunc, /, *args, **kwargs):
    """Applies the ufunc to all pairs of elements of two operands.

    .. seealso:: :meth:`numpy.ufunc.outer`
    """
    if ufunc.nin != 2:
        raise ValueError('outer product only supported for binary functions')
    if len(args) != 2:
        raise TypeError('exactly two arguments expected')
    result = _ufunc_dispatch.dispatch_outer(ufunc, args, kwargs)
    if result is not NOT_OVERRIDDEN:
        return result
    a, b = [cupy._core.array(x) for x in args]
    kwargs = {k: _converted(v) for k, v in kwargs.items()}
    return ufunc(a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)


def at(ufunc, /, *args, **kwargs):
    """Applies the ufunc in place to the elements at ``indices``.

    .. seealso:: :meth:`numpy.ufunc.at`
    """
    if ufunc.nin > 2:
        raise ValueError('Only unary and binary ufuncs supported at this time')
    if ufunc.nout != 1:
        raise ValueError('Only single output ufuncs supported at this time')
    given = _bind('at', _AT, args, kwargs, required=2)
    inputs = tuple(given[name] for name in _AT if name in given)
    if ufunc.nin == 2 and len(inputs) == 2:
        raise ValueError('second operand needed for ufunc')
    if ufunc.nin == 1 and len(inputs) == 3:
        raise ValueError('second operand provided when ufunc is unary')
    result = _ask(ufunc, 'at', inputs, (), {})
    if result is not NOT_OVERRIDDEN:
        return result
    own = _own(ufunc, 'at')
    if own is not None:
        return own(*map(_converted, inputs))
    if ufunc._scatter_op is None:
        raise _not_supported(ufunc, 'at')
    _converted(inputs[0])._scatter_op(
        inputs[1], inputs[2], ufunc._scatter_op)


def reduce(ufunc, /, *args, **kwargs):
    """Reduces an operand along an axis.

    .. seealso:: :meth:`numpy.ufunc.reduce`
    """
    given, out, result = _start(ufunc, 'reduce', _REDUCE, 1, args, kwargs)
    if result is not NOT_OVERRIDDEN:
        return result
    array = _converted(given.pop('array'))
    if given.get('initial') is numpy._NoValue:
        del given['initial']
    if given.get('where') is True:
        del given['where']
    own = _own(ufunc, 'reduce')
    if own is not None:
        return own(array, **given | {'out': out})
    _refuse('reduce', given, ('initial', 'where'))
    axis, keepdims = given.get('axis', 0), given.get('keepdims', False)
    if ufunc is cupy.add:
        return array.sum(axis, given.get('dtype'), out, keepdims)
    if ufunc is cupy.multiply:
        return array.prod(axis, given.get('dtype'), out, keepdims)
    raise _not_supported(ufunc, 'reduce')


def accumulate(ufunc, /, *args, **kwargs):
    """Accumulates the results along an axis.

    .. seealso:: :meth:`numpy.ufunc.accumulate`
    """
    given, out, result = _start(
        ufunc, 'accumulate', _ACCUMULATE, 1, args, kwargs)
    if result is not NOT_OVERRIDDEN:
        return result
    array, axis = _converted(given.pop('array')), given.get('axis', 0)
    own = _own(ufunc, 'accumulate')
    if own is not None:
        return own(array, **given | {'out': out})
    if ufunc is cupy.add:
        return array.cumsum(axis, given.get('dtype'), out)
    if ufunc is cupy.multiply:
        return array.cumprod(axis, given.get('dtype'), out)
    raise _not_supported(ufunc, 'accumulate')


def reduceat(ufunc, /, *args, **kwargs):
    """Reduces slices of an operand along an axis.

    .. seealso:: :meth:`numpy.ufunc.reduceat`
    """
    given, out, result = _start(
        ufunc, 'reduceat', _REDUCEAT, 2, args, kwargs)
    if result is not NOT_OVERRIDDEN:
        return result
    own = _own(ufunc, 'reduceat')
    if own is not None:
        return own(_converted(given.pop('array')), **given | {'out': out})
    if ufunc is cupy.add:
        return _converted(given['array'])._add_reduceat(
            given['indices'], given.get('axis', 0), given.get('dtype'), out)
    raise _not_supported(ufunc, 'reduceat')


def _start(ufunc, method, names, n_inputs, args, kwargs):
    """Does what the methods of the reduce family share.

    Returns:
        tuple: The arguments by name without ``out``, the output or None,
        and the answer of the overrides.
    """
    if ufunc.nin != 2:
        raise ValueError(f'{method} only supported for binary functions')
    if ufunc.nout != 1:
        raise ValueError(
            f'{method} only supported for functions returning a single value')
    given = _bind(method, names, args, kwargs, required=n_inputs)
    outs = _output(given, by_keyword='out' in kwargs)
    inputs = tuple(given[name] for name in names[:n_inputs])
    rest = {k: v for k, v in given.items() if k not in names[:n_inputs]}
    if not outs:
        rest.pop('out', None)
    result = _ask(ufunc, method, inputs, outs, rest)
    return given, outs[0] if outs else None, result


def _output(given, by_keyword):
    out = given.get('out')
    if by_keyword:
        return _ufunc_arguments.single_out(out)
    if out is Ellipsis:
        raise TypeError('out=... is only allowed as a keyword argument.')
    # A tuple by position is not unpacked.
    return () if out is None else (out,)


def _bind(method, names, args, kwargs, required):
    """Returns the arguments of ``method`` by name, those given only."""
    if len(args) > len(names):
        raise TypeError(
            f'{method}() takes from {required} to {len(names)} positional '
            f'arguments but {len(args)} were given')
    positional = dict(zip(names, args))
    for i, name in enumerate(positional):
        if name in kwargs:
            raise TypeError(f'argument for {method}() given by name '
                            f'({name!r}) and position (position {i})')
    if positional.get('initial') is numpy._NoValue:
        del positional['initial']
    _refuse(method, kwargs, [k for k in kwargs if k not in names])
    # The order in which an override sees them is NumPy's.
    out = {k: v for k, v in positional.items() if k == 'out'}
    given = kwargs | out | positional
    for i, name in enumerate(names[:required]):
        if name not in given:
            raise TypeError(f'{method}() missing required argument '
                            f'{name!r} (pos {i})')
    return given


def _refuse(method, given, names):
    for name in names:
        if name in given:
            raise TypeError(f'{method}() got an unexpected keyword argument '
                            f'{name!r}')


def _ask(ufunc, method, inputs, outs, kwargs):
    counterpart = _ufunc_registry.counterpart(ufunc)
    if counterpart is None:
        return NOT_OVERRIDDEN
    return _ufunc_override.ask(
        ufunc, counterpart, method, inputs, outs, kwargs)


def _converted(x):
    """Returns an operand that declined as the array of its device data.

    Its own methods or another call of a ufunc would ask it again.
    """
    if type(x) is tuple:
        return tuple([_converted(y) for y in x])
    t = type(x)
    if not issubclass(t, cupy.ndarray) and (
            hasattr(t, '__cuda_array_interface__')
            or hasattr(t, '__cupy_get_ndarray__')):
        return cupy.asarray(x)
    return x


def _own(ufunc, method):
    """Returns what a subclass of ufunc computes a method by, or None."""
    return getattr(ufunc, f'_{method}', None)


def _not_supported(ufunc, method):
    return NotImplementedError(
        f'`{ufunc.name}.{method}` is not supported yet')
