"""The repository, the pinned sdist, and small stand-ins for both."""

from __future__ import annotations

from pathlib import Path

import pytest

from cupy_overlay import _config
from cupy_overlay import _fetch
from cupy_overlay import _pins
from cupy_overlay import _tree

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope='session')
def root():
    """The repository."""
    return ROOT


@pytest.fixture(scope='session')
def pins():
    """The repository's upstream.toml."""
    return _pins.load(ROOT)


@pytest.fixture(scope='session')
def pristine(pins):
    """The files of the pinned sdist, by name."""
    config = _config.read(ROOT)
    return _tree.unpack(_fetch.fetch(config, pins.sdist, pins.sdist_sha256))
