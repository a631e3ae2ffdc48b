"""Which compiler is used: the first that is installed.

``CUPY_NUMBA_COMPILER`` in the environment names one of them.
"""
from __future__ import annotations

import os

from cupyx.numba import _numba_cuda
from cupyx.numba import _numba_cuda_mlir

_ALL = _numba_cuda.NumbaCuda(), _numba_cuda_mlir.NumbaCudaMlir()


def _candidates():
    name = os.environ.get('CUPY_NUMBA_COMPILER')
    found = [c for c in _ALL if name in (None, c.package)]
    if not found:
        known = ' or '.join(c.package for c in _ALL)
        raise ImportError(
            f'CUPY_NUMBA_COMPILER has to be {known}, not {name!r}')
    return found


def _choose():
    """Returns the compiler.

    Raises:
        ImportError: None is installed, or all are too old.
    """
    problems, advice = [], []
    for compiler in _candidates():
        problem = compiler.problem()
        if problem is None:
            return compiler
        needed = f'{compiler.package} {compiler.oldest} or newer'
        problems.append(f'{needed} (which {problem})')
        advice.append(f"'{compiler.package}[cu13]>={compiler.oldest}'")
    raise ImportError(
        'compiling Python functions for the device needs '
        f'{" or ".join(problems)}. Install it for your CUDA version: '
        f'pip install numba {" or ".join(advice)} (or [cu12])')


compiler = _choose()
