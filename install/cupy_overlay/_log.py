"""Short lines that show how far a build is."""

from __future__ import annotations

import sys
import time

_start = time.monotonic()


def step(verb: str, what: str) -> None:
    """Prints one line, e.g. ``[  12 s] compiling  cupy._core._kernel``."""
    seconds = time.monotonic() - _start
    print(f'[{seconds:4.0f} s] {verb:<12} {what}', flush=True)


def note(text: str) -> None:
    """Prints a line that the user should not miss."""
    print(f'note: {text}', file=sys.stderr, flush=True)
