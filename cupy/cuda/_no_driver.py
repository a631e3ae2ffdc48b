"""What CuPy's errors say on a machine without a usable NVIDIA driver.

The texts of CUDA errors come from the CUDA runtime that is compiled into
``cupy_backends.cuda.api.runtime``. The error class is a Python class, so the
advice is added here and that module need not be built anew.
"""

from __future__ import annotations

import os

_INSUFFICIENT_DRIVER = 35  # cudaErrorInsufficientDriver
_NO_DEVICE = 100  # cudaErrorNoDevice

HINT = ('to run on the CPU instead, set CUPY_DEVICE=host in the environment '
        'before CuPy is imported')


def refuse_stubs(build_version: int) -> None:
    """Stops the import of a CuPy whose functions do nothing.

    Those built with ``CUPY_INSTALL_USE_STUB=1``, without CUDA, report
    success for all that they are asked to do.

    Args:
        build_version: ``driver.get_build_version()``; 0 if built so.

    Raises:
        ImportError: It is, and neither the host device takes its place nor
            does Read the Docs import it for its docstrings.
    """
    allowed = os.environ.get('CUPY_DEVICE') or os.environ.get('READTHEDOCS')
    if build_version == 0 and not allowed:
        raise ImportError('this CuPy was built without CUDA and cannot use a '
                          f'GPU; {HINT}')


def explain(error: type) -> None:
    """Makes errors about a missing driver or GPU name the host device.

    Args:
        error: ``CUDARuntimeError``; it has the CUDA error as ``status``.
            ``args`` stay as they are.
    """
    plain = error.__str__

    def __str__(self) -> str:
        text = plain(self)
        if self.status in (_INSUFFICIENT_DRIVER, _NO_DEVICE):
            return f'{text} ({HINT})'
        return text

    error.__str__ = __str__  # type: ignore[method-assign,assignment]
