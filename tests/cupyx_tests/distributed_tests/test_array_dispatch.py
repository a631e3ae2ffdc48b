"""Distributed arrays, which have hooks of their own, are still asked.

All chunks are on one device: what several devices exchange is not tested.
"""
from __future__ import annotations

import warnings

import numpy
import pytest

import cupy

HOST = numpy.arange(16.0).reshape(4, 4)
ROWS = [(slice(0, 2), slice(0, 4)), (slice(2, 4), slice(0, 4))]


@pytest.fixture(scope='module')
def distributed():
    with warnings.catch_warnings():
        # CuPy says at the import if there is no NCCL, which one device
        # does not need.
        warnings.filterwarnings('ignore', '(?s).*nccl', UserWarning)
        from cupyx.distributed import array
    return array


@pytest.fixture
def rows(distributed):
    return distributed.distributed_array(cupy.asarray(HOST), {0: ROWS})


def test_ufunc(distributed, rows):
    result = cupy.add(rows, cupy.add(rows, rows))
    assert type(result) is distributed.DistributedArray
    numpy.testing.assert_array_equal(result.get(), 3 * HOST)


def test_kernel(distributed, rows):
    kernel = cupy.ElementwiseKernel(
        'float64 x, float64 y', 'float64 z', 'z = x * y', 'distributed_times')
    result = kernel(rows, rows)
    assert type(result) is distributed.DistributedArray
    numpy.testing.assert_array_equal(result.get(), HOST * HOST)


def test_reduction(rows):
    numpy.testing.assert_array_equal(rows.sum(axis=0).get(), HOST.sum(axis=0))


def test_one_that_is_not_distributed_is_refused(rows):
    with pytest.raises(RuntimeError, match='non-distributed'):
        cupy.add(rows, cupy.asarray(HOST))
