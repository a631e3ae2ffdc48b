"""Ufuncs and device functions that numba compiles, for CuPy.

Only numba's compiler is used: memory, streams, launches, casts and caches
are CuPy's, and operands override a call as they do for CuPy's own ufuncs.
"""
from __future__ import annotations

from cupyx.numba._decorators import guvectorize  # noqa: F401
from cupyx.numba._decorators import vectorize  # noqa: F401
from cupyx.numba._device_function import device_function  # noqa: F401
from cupyx.numba._device_function import DeviceFunction  # noqa: F401
from cupyx.numba._gufunc import GUFunc  # noqa: F401
from cupyx.numba._ufunc import UFunc  # noqa: F401
from cupyx.numba._registration import as_ufunc  # noqa: F401
from cupyx.numba._registration import register  # noqa: F401
