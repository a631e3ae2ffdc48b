"""What callers hand to the ufuncs: arrays of CuPy, numba and the host.

Device data is computed where it is; data of the host is copied, and so is
the result back, unless an operand is on the device.
"""
from __future__ import annotations

import contextlib
import importlib

import numpy

import cupy
from cupy._core import _ufunc_override
from cupyx.numba import _types


# Kinds of operands, as bits. OTHER are device arrays of other libraries.
NONE, SCALAR, DEVICE, OTHER, NUMBA, HOST, FOREIGN, MLIR = (
    0, 1, 2, 4, 8, 16, 32, 64)

# Packages with device arrays in which results are given back.
_PACKAGES = {'numba': NUMBA, 'numba_cuda_mlir': MLIR}

_kinds = {
    type(None): NONE, bool: SCALAR, int: SCALAR, float: SCALAR,
    complex: SCALAR, cupy.ndarray: DEVICE, numpy.ndarray: HOST, list: HOST,
    tuple: HOST,
} | {numpy.dtype(c).type: SCALAR for c in '?bhilqBHILQefdFD'}


def kind(x):
    """Returns the kind of an operand."""
    found = _kinds.get(type(x))
    return _kind_of_instance(x) if found is None else found


def _kind_of_instance(x):
    t = type(x)
    if _ufunc_override.has_override(x):
        return FOREIGN
    if isinstance(x, cupy.ndarray):
        return DEVICE
    if hasattr(x, '__cuda_array_interface__'):
        return _PACKAGES.get(t.__module__.partition('.')[0], OTHER)
    return HOST


def kinds_of(args, kwargs):
    """Returns the kinds of all operands together.

    Returns:
        tuple: The bits of the inputs and those of ``out`` and ``where``.
    """
    inputs = outputs = NONE
    for x in args:
        inputs |= kind(x)
    for name in ('out', 'where') if kwargs else ():
        value = kwargs.get(name)
        for x in value if type(value) is tuple else (value,):
            outputs |= kind(x)
    return inputs, outputs


def dtype_names(args):
    """Returns the dtypes of operands, for the text of an error."""
    return [str(getattr(x, 'dtype', type(x).__name__)) for x in args]


def no_loop(ufunc, dtypes, more=''):
    """Returns the error that a ufunc has no loop for operands of dtypes."""
    return TypeError(
        f'{ufunc.__name__}() has no loop for ({", ".join(dtypes)}){more}; '
        f'there are {", ".join(ufunc.types)}')


def is_date(x):
    return getattr(getattr(x, 'dtype', None), 'kind', '') in ('m', 'M')


def call_with_dates(run, arrays, loop):
    """Computes with dates of the host, which travel as integers.

    Args:
        run (callable): Takes arrays of CuPy, of the dtypes in which dates
            are stored.
        arrays (list): Arrays of the host.
        loop: What has ``in_dtypes`` and ``out_dtypes``.

    Returns:
        What ``run`` returns, on the host and with dates.
    """
    results = run(*[
        cupy.asarray(x.astype(d, copy=False).view(_types.storage(d)))
        for x, d in zip(arrays, loop.in_dtypes)])
    single = type(results) is not tuple
    results = tuple(y.get().view(d)[()] for y, d in zip(
        (results,) if single else results, loop.out_dtypes))
    return results[0] if single else results


def to_device(x):
    """Returns an operand for CuPy: scalars as they are."""
    if kind(x) in (NONE, SCALAR, DEVICE, FOREIGN):
        return x
    if kind(x) == HOST:
        x = numpy.asarray(x)
        if is_date(x):
            raise TypeError(
                f'CuPy has no arrays of {x.dtype}; arrays of the host may be '
                'of dates in calls that give nothing but the inputs')
    return cupy.asarray(x)


def _keywords_to_device(kwargs):
    """Returns keywords whose ``out`` and ``where`` are on the device."""
    found = dict(kwargs)
    for name in 'out', 'where':
        value = kwargs.get(name)
        if value is not None:
            found[name] = tuple(map(to_device, value)) if (
                name == 'out' and type(value) is tuple) else to_device(value)
    return found


def to_caller(result, kinds):
    """Returns a result where the inputs are, as numba documents it."""
    if type(result) is tuple:
        return tuple(to_caller(r, kinds) for r in result)
    if kinds & (DEVICE | OTHER) or type(result) is not cupy.ndarray:
        return result
    for package, kind_ in _PACKAGES.items():
        if kinds & kind_:
            cuda = importlib.import_module(f'{package}.cuda')
            return cuda.as_cuda_array(result)
    return result.get()[()]


def call(run, nin, args, kwargs):
    """Calls ``run`` with the operands on the device.

    Args:
        run (callable): Takes arrays of CuPy and scalars.
        nin (int): Number of inputs.
        args (tuple): Inputs, or inputs and outputs.
        kwargs (dict): Keywords.

    Returns:
        What ``run`` returns, on the host if all operands are there.
    """
    if len(args) > nin:
        kwargs['out'] = args[nin:]
        args = args[:nin]
    inputs, outputs = kinds_of(args, kwargs)
    if not (inputs | outputs) & ~(DEVICE | SCALAR) and inputs != SCALAR:
        return run(*args, **kwargs)
    device = _keywords_to_device(kwargs)
    result = run(*map(to_device, args), **device)
    if kwargs.get('out') is None:
        return to_caller(result, inputs)
    return _copied_back(kwargs['out'], device['out'])


def call_method(method, array, args, kwargs, kinds=None):
    """Calls a method with its array on the device.

    Args:
        method (callable): Takes arrays of CuPy.
        array: The operand; its kind is that of the result.
        args (tuple): Other positional arguments.
        kwargs (dict): Keywords; numba's ``stream`` is obeyed.
        kinds (int): Kinds of all operands, if there are several.
    """
    kinds = kind(array) if kinds is None else kinds
    with on_stream(kwargs.pop('stream', None)):
        if kinds & FOREIGN:
            return method(array, *args, **kwargs)
        device = _keywords_to_device(kwargs)
        result = method(to_device(array), *map(_if_array, args), **device)
        if kwargs.get('out') is not None:
            return _copied_back(kwargs['out'], device['out'])
        if kinds & (NUMBA | MLIR) and result.ndim == 0:
            return result.get()[()]  # as numba's own reduce does
        return to_caller(result, kinds)


def _if_array(x):
    return to_device(x) if isinstance(x, numpy.ndarray) or (
        kind(x) in (NUMBA, MLIR)) else x


def _copied_back(given, computed):
    """Fills outputs of the host; returns the outputs that were given."""
    single = type(given) is not tuple
    pairs = [(given, computed)] if single else list(zip(given, computed))
    for host, device in pairs:
        if type(host) is numpy.ndarray:
            host[...] = device.get()
    return given if single or len(given) > 1 else given[0]


def on_stream(stream):
    """Returns a context in which CuPy uses a stream.

    Args:
        stream: Of CuPy or numba, an integer handle, or None or 0 for CuPy's
            current one.

    Raises:
        TypeError: It is none of these.
    """
    if stream is None or type(stream) is int and stream == 0:
        return contextlib.nullcontext()
    if isinstance(stream, (cupy.cuda.Stream, cupy.cuda.ExternalStream)):
        return stream
    # Streams of older numba have only a handle, an integer of ctypes.
    handle = getattr(getattr(stream, 'handle', stream), 'value', stream)
    return cupy.cuda.Stream.from_external(
        _Handle(handle or 0) if type(handle) in (int, type(None)) else stream)


class _Handle:
    """An integer as a stream of the CUDA stream protocol."""

    def __init__(self, handle):
        self._handle = handle

    def __cuda_stream__(self):
        return 0, self._handle
