"""What callers hand to the ufuncs: arrays of CuPy, numba and the host.

Device data is computed where it is; data of the host is copied, and so is
the result back, unless an operand is on the device.
"""
from __future__ import annotations

import contextlib

import numpy

import cupy
from cupy._core import _ufunc_override


# Kinds of operands, as bits.
NONE, SCALAR, DEVICE, NUMBA, HOST, FOREIGN = 0, 1, 2, 4, 8, 16

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
    if hasattr(x, '__cuda_array_interface__'):
        package = t.__module__.partition('.')[0]
        return NUMBA if package.startswith('numba') else DEVICE
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


def to_device(x):
    """Returns an operand for CuPy: scalars as they are."""
    if type(x) is tuple:
        return tuple(map(to_device, x))
    if kind(x) in (NONE, SCALAR, DEVICE):
        return x
    if kind(x) == HOST:
        x = numpy.asarray(x)
        if x.dtype.kind in 'mM':
            raise TypeError(f'CuPy has no arrays of {x.dtype}')
    return cupy.asarray(x)


def to_caller(result, kinds):
    """Returns a result where the inputs are, as numba documents it."""
    if type(result) is tuple:
        return tuple(to_caller(r, kinds) for r in result)
    if kinds & DEVICE or type(result) is not cupy.ndarray:
        return result
    if kinds & NUMBA:
        from numba import cuda
        return cuda.as_cuda_array(result)
    return result.get()[()]


def call(run, nin, args, kwargs):
    """Calls ``run`` with the operands on the device.

    Args:
        run (callable): Takes arrays of CuPy and scalars.
        nin (int): Number of inputs.
        args (tuple): Inputs, or inputs and outputs.
        kwargs (dict): Keywords; numba's ``stream`` is obeyed.

    Returns:
        What ``run`` returns, on the host if all operands are there.
    """
    with on_stream(kwargs.pop('stream', None)):
        if len(args) > nin:
            kwargs['out'] = args[nin:]
            args = args[:nin]
        inputs, outputs = kinds_of(args, kwargs)
        if not (inputs | outputs) & (HOST | NUMBA) and inputs != SCALAR:
            return run(*args, **kwargs)
        device = [to_device(x) for x in args]
        given = kwargs.get('out')
        for name in 'out', 'where':
            if name in kwargs:
                kwargs[name] = to_device(kwargs[name])
        result = run(*device, **kwargs)
        if given is None:
            return to_caller(result, inputs)
        return _copied_back(given, kwargs['out'])


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
        given = kwargs.get('out')
        kwargs = {k: to_device(v) if k in ('out', 'where') else v
                  for k, v in kwargs.items()}
        result = method(to_device(array), *map(_if_array, args), **kwargs)
        if given is not None:
            return _copied_back(given, kwargs['out'])
        if kinds & NUMBA and result.ndim == 0:
            return result.get()[()]  # as numba's own reduce does
        return to_caller(result, kinds)


def _if_array(x):
    return to_device(x) if isinstance(x, numpy.ndarray) or (
        kind(x) == NUMBA) else x


def _copied_back(given, computed):
    """Fills outputs of the host; returns the outputs that were given."""
    single = type(given) is not tuple
    pairs = [(given, computed)] if single else list(zip(given, computed))
    for host, device in pairs:
        if type(host) is numpy.ndarray:
            host[...] = device.get()
    return given if single or len(given) > 1 else given[0]


def on_stream(stream):
    """Returns a context in which CuPy uses a stream of numba or CuPy."""
    if stream is None or (type(stream) is int and stream == 0):
        return contextlib.nullcontext()
    if isinstance(stream, cupy.cuda.stream.BaseStream):
        return stream
    handle = getattr(stream, 'handle', stream)
    handle = getattr(handle, 'value', handle)
    return cupy.cuda.ExternalStream(int(handle or 0))
