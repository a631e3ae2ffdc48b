"""A private copy of the host device's library for the tests of this folder.

The tests replace the PTX translator and cause faults; in the library that
CuPy itself may have loaded in the same process that would do harm.
"""
from __future__ import annotations

from collections.abc import Iterator
import pathlib
import shutil
import sys

import pytest

from cupy_backends import host

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(scope='session')
def lib(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    import hostlib
    source = pathlib.Path(host.__path__[0]) / 'lib' / 'libcuda.so.1'
    copy = tmp_path_factory.mktemp('hostlib') / 'private-libcuda.so'
    shutil.copy(source, copy)
    yield hostlib.load(copy)


@pytest.fixture(autouse=True)
def no_fault_left(lib: object) -> Iterator[None]:
    """A fault that a test caused must not show up in the next one."""
    yield
    lib.cudaGetLastError()  # type: ignore[attr-defined]
    status = lib.cudaDeviceSynchronize()  # type: ignore[attr-defined]
    lib.cudaGetLastError()  # type: ignore[attr-defined]
    assert status == 0, 'the test left a fault behind'
