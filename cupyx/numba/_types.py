"""Types of numba, NumPy and CUDA C++ that stand for each other."""
from __future__ import annotations

import numpy

from cupy._core._scalar import get_typename
from cupyx.numba._choice import compiler

_sigutils = compiler.part('core.sigutils')
_numpy_support = compiler.part('np.numpy_support')
_NumbaError = compiler.part('core.errors').NumbaError
types = compiler.types


def is_type(x):
    """Whether this is a type of numba or of its relatives."""
    return hasattr(x, 'is_precise')


def translated(x):
    """Returns the compiler's type for that of numba or a relative.

    numba and numba-cuda-mlir each have types of their own, with the same
    names and attributes.
    """
    if isinstance(x, types.Type):
        return x
    if hasattr(x, 'layout'):
        return types.Array(translated(x.dtype), x.ndim, x.layout,
                           readonly=not x.mutable, aligned=x.aligned)
    if hasattr(x, 'types'):
        return types.Tuple(tuple(map(translated, x.types)))
    return types.none if str(x) == 'none' else to_numba(str(x))


def to_numba(dtype):
    """Returns the numba type of a dtype.

    Raises:
        TypeError: numba has none.
    """
    try:
        return _numpy_support.from_dtype(numpy.dtype(dtype))
    except _NumbaError as error:
        raise TypeError(f'numba has no type for {dtype!r}') from error


def to_dtype(numba_type, what):
    """Returns the dtype of a scalar numba type; ``what`` is for the error."""
    try:
        return _numpy_support.as_dtype(types.unliteral(numba_type))
    except (NotImplementedError, _NumbaError) as error:
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
        if isinstance(signature, str):
            return _sigutils.normalize_signature(signature)
        result = getattr(signature, 'return_type', None)
        return (tuple(map(translated, getattr(signature, 'args', signature))),
                None if result is None else translated(result))
    except (TypeError, NameError, AttributeError, SyntaxError,
            _NumbaError) as error:
        raise TypeError(
            f'{signature!r} is not a signature of numba, such as '
            f"'float64(float64, float64)': {error}") from error


def outputs(restype, name):
    """Returns the dtypes of what a function returns: one or a tuple."""
    items = (restype.types if isinstance(restype, types.BaseTuple)
             else [restype])
    return tuple(to_dtype(t, f'the result of {name}') for t in items)
