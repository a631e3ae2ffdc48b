"""Build backend of the fork (PEP 517), also run by the Makefile.

It makes the official CuPy wheel of the pinned version, with a few modules
rebuilt from edited sources and our files added. The hooks are here; what
they do is in :mod:`cupy_overlay._build`.

Importing it needs the standard library alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cupy_overlay import _build
from cupy_overlay import _config
from cupy_overlay import _sdist

ROOT = Path(__file__).resolve().parents[2]

# Cython and setuptools as upstream's pyproject.toml asks for; pip fetches the
# pinned files and is not in an isolated build environment by itself.
REQUIREMENTS = ['Cython>=3.2,<3.3', 'numpy>=2.0', 'setuptools>=77', 'wheel',
                'pip']
# What pyproject.toml asks for, to read TOML.
BOOTSTRAP = ["tomli; python_version < '3.11'"]


def get_requires_for_build_wheel(
        config_settings: Mapping[str, Any] | None = None) -> list[str]:
    """PEP 517: what has to be installed before :func:`build_wheel`."""
    return list(REQUIREMENTS)


def build_wheel(
        wheel_directory: str,
        config_settings: Mapping[str, Any] | None = None,
        metadata_directory: str | None = None) -> str:
    """PEP 517: builds the wheel and returns its name."""
    config = _config.read(ROOT, config_settings)
    with _config.exclusive(config):
        return _build.build_wheel(config, Path(wheel_directory)).name


def build_sdist(
        sdist_directory: str,
        config_settings: Mapping[str, Any] | None = None) -> str:
    """PEP 517: packs the repository and returns the archive's name."""
    return _sdist.build(ROOT, Path(sdist_directory)).name
