"""TOML files, with the parser that this Python has."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def load(path: Path) -> dict[str, Any]:
    """Reads a TOML file.

    Raises:
        ValueError: the file is no TOML; the message names it.
    """
    # Python 3.10 has no tomllib; there pyproject.toml requires tomli.
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib  # type: ignore[no-redef, import-not-found]
    try:
        return tomllib.loads(path.read_text('utf-8'))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f'{path}: {error}') from None
