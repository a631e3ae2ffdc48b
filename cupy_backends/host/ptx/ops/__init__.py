"""The chapters of the op table; importing this package fills the table."""
from __future__ import annotations

from cupy_backends.host.ptx.ops import atomic  # NOQA: F401
from cupy_backends.host.ptx.ops import call  # NOQA: F401
from cupy_backends.host.ptx.ops import carry  # NOQA: F401
from cupy_backends.host.ptx.ops import compare  # NOQA: F401
from cupy_backends.host.ptx.ops import convert  # NOQA: F401
from cupy_backends.host.ptx.ops import floating  # NOQA: F401
from cupy_backends.host.ptx.ops import half  # NOQA: F401
from cupy_backends.host.ptx.ops import integer  # NOQA: F401
from cupy_backends.host.ptx.ops import logic  # NOQA: F401
from cupy_backends.host.ptx.ops import memory  # NOQA: F401
from cupy_backends.host.ptx.ops import move  # NOQA: F401
