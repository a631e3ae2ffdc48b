"""The host device's builds take the places of upstream's."""
from __future__ import annotations

import importlib

import pytest

from cupy._core import _accelerator


@pytest.mark.parametrize('name', [
    'cupy.cuda.cub', 'cupy.cuda.thrust', 'cupy.random._generator_api'])
def test_origin(name):
    module = importlib.import_module(name)
    assert 'cupy_backends/host/modules' in module.__spec__.origin


def test_curand_is_ours():
    with open('/proc/self/maps') as stream:
        loaded = {line.split()[-1] for line in stream
                  if 'libcurand' in line}
    assert loaded
    assert all('cupy_backends/host/lib' in path for path in loaded)


def test_accelerators():
    assert _accelerator.get_routine_accelerators() == [1]  # CUB
    assert _accelerator.get_reduction_accelerators() == []
