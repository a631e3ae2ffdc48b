"""TOML files, with the parser that this Python has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def load(path: Path) -> dict[str, Any]:
    """Reads a TOML file.

    Raises:
        ValueError: the file is no TOML; the message names it.
    """
    # Not at the top: where there is no tomllib, tomli is installed only
    # after pip has read pyproject.toml and imported this package.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text('utf-8'))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f'{path}: {error}') from None
    return table
