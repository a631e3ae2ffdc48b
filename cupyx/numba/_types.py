"""Types of numba, NumPy and CUDA C++ that stand for each other."""
from __future__ import annotations

import numba
import numpy

from cupy._core._scalar import get_typename
from numba.core import sigutils
from numba.np import numpy_support


def to_numba(dtype):
    """Returns the numba type of a dtype.

    Raises:
        TypeError: numba has none.
    """
    try:
        return numba.from_dtype(numpy.dtype(dtype))
    except numba.core.errors.NumbaError as error:
        raise TypeError(f'numba has no type for {dtype!r}') from error


def to_dtype(numba_type, what):
    """Returns the dtype of a scalar numba type; ``what`` is for the error."""
    try:
        return numpy_support.as_dtype(numba.types.unliteral(numba_type))
    except (NotImplementedError, numba.core.errors.NumbaError) as error:
        raise TypeError(
            f'{what} has the type {numba_type}, which arrays cannot hold. '
            'It has to be a bool, an integer, a float or a complex number on '
            'every path through the function.') from error


def storage(dtype):
    """Returns the dtype under which CuPy stores ``dtype``.

    CuPy has no dates: their 64-bit integers travel.
    """
    return numpy.dtype('q') if dtype.kind in 'mM' else dtype


def c_name(dtype):
    return get_typename(storage(dtype))


def parse(signature):
    """Returns the argument types and the return type of a signature.

    Args:
        signature: ``'float64(float64)'``, a tuple of argument types, or a
            signature object of numba.

    Returns:
        tuple: numba types; None in place of a return type that is not given.

    Raises:
        TypeError: It is not a signature.
    """
    if (isinstance(signature, tuple) and len(signature) == 2
            and isinstance(signature[0], tuple)):
        return signature  # parsed already
    try:
        return sigutils.normalize_signature(signature)
    except (TypeError, NameError, AttributeError, SyntaxError,
            numba.core.errors.NumbaError) as error:
        raise TypeError(
            f'{signature!r} is not a signature of numba, such as '
            f"'float64(float64, float64)': {error}") from error


def outputs(restype, name):
    """Returns the dtypes of what a function returns: one or a tuple."""
    items = (restype.types if isinstance(restype, numba.types.BaseTuple)
             else [restype])
    return tuple(to_dtype(t, f'the result of {name}') for t in items)
