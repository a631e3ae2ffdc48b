"""Tests of what the host device computes without translating kernels."""
from __future__ import annotations

import ctypes
import os
import pathlib
import sys

import pytest

_HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(_HERE))


def pytest_collection_modifyitems(items):
    if os.environ.get('CUPY_DEVICE') == 'host':
        return
    skip = pytest.mark.skip(
        reason='a test of the host device; set CUPY_DEVICE=host')
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(skip)


@pytest.fixture
def set_num_threads():
    """A function that sets the number of worker threads; undone later."""
    library = ctypes.CDLL('libcuda.so.1')  # the one that is loaded
    before = library.hd_get_num_threads()
    yield library.hd_set_num_threads
    library.hd_set_num_threads(before)
