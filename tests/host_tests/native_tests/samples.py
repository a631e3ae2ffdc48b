"""Arrays with what is hard about their dtypes."""
from __future__ import annotations

import numpy

INTEGERS = ('int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64',
            'uint64')
REALS = ('float16', 'float32', 'float64')
COMPLEX = ('complex64', 'complex128')
NUMBERS = INTEGERS + REALS + COMPLEX
ALL = NUMBERS + ('bool',)

# How far results may be from those of exact arithmetic.
TOLERANCES = {
    'float16': {'rtol': 1e-3, 'atol': 1e-3},
    'float32': {'rtol': 1e-6, 'atol': 1e-5},
    'complex64': {'rtol': 1e-6, 'atol': 1e-5},
}
CLOSE = {'rtol': 1e-13, 'atol': 1e-11}


def tolerance(dtype):
    return TOLERANCES.get(numpy.dtype(dtype).name, CLOSE)


def wide(dtype):
    """The dtype to compute a reference in."""
    return {'f': numpy.dtype('float64'), 'c': numpy.dtype('complex128')}.get(
        numpy.dtype(dtype).kind, numpy.dtype(dtype))


def numbers(dtype, shape, seed=0):
    """Returns random numbers of all the dtype's range, or normal ones."""
    rng = numpy.random.default_rng(seed)
    dtype = numpy.dtype(dtype)
    if dtype.kind == 'b':
        return rng.random(shape) < 0.5
    if dtype.kind in 'iu':
        limits = numpy.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype,
                            endpoint=True)
    x = rng.normal(size=shape)
    if dtype.kind == 'c':
        x = x + 1j * rng.normal(size=shape)
    return x.astype(dtype)


def near_one(dtype, shape, seed=0):
    """Returns numbers whose products stay in range."""
    dtype = numpy.dtype(dtype)
    if dtype.kind not in 'fc':
        return numbers(dtype, shape, seed)
    x = numpy.exp(numbers(dtype, shape, seed).astype(wide(dtype)) * 0.01)
    return x.astype(dtype)


def _with_specials(x, rng):
    chance = rng.random(x.shape)
    specials = (numpy.nan, -numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0)
    for i, value in enumerate(specials):
        x[(chance > i * 0.04) & (chance < (i + 1) * 0.04)] = value


def with_ties_and_specials(dtype, shape, seed=0):
    """Returns numbers among which are equal ones, zeros of both signs, NaNs
    of both signs and infinities."""
    rng = numpy.random.default_rng(seed + 1000)
    dtype = numpy.dtype(dtype)
    x = numbers(dtype, shape, seed)
    if dtype.kind in 'iu':
        return x // numpy.asarray(numpy.iinfo(dtype).max // 8 + 1, dtype)
    if dtype.kind == 'f':
        x = x.round(1)
        _with_specials(x, rng)
    if dtype.kind == 'c':
        x = x.round(0)
        _with_specials(x.real, rng)
        _with_specials(x.imag, rng)
    return x
