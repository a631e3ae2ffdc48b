"""Cumulative sums and products against NumPy's."""
from __future__ import annotations

import cupy
import numpy
import pytest

import samples


# The tolerance of sums grows with what is summed up on the way.
def check(got, expected, dtype):
    assert got.dtype == dtype
    limits = samples.tolerance(dtype)
    numpy.testing.assert_allclose(
        cupy.asnumpy(got), expected.astype(dtype), **limits)


@pytest.mark.parametrize('dtype', samples.NUMBERS)
@pytest.mark.parametrize('size', [1, 2, 1000, 32768, 32769, 100_001])
def test_cumsum(dtype, size):
    x = samples.numbers(dtype, size)
    exact = x.cumsum(dtype=samples.wide(dtype))
    check(cupy.asarray(x).cumsum(dtype=dtype), exact, dtype)


@pytest.mark.parametrize('dtype', samples.NUMBERS)
@pytest.mark.parametrize('size', [1, 1000])
def test_cumprod(dtype, size):
    x = samples.near_one(dtype, size)
    exact = x.cumprod(dtype=samples.wide(dtype))
    check(cupy.asarray(x).cumprod(dtype=dtype), exact, dtype)


def test_cumsum_keeps_negative_zero():
    x = cupy.asarray([-0.0, -0.0, 1.0])
    assert cupy.signbit(x.cumsum()).tolist() == [True, True, False]


def test_cumsum_carries_specials_on():
    x = numpy.zeros(100_000)
    x[40_000] = numpy.inf
    x[80_000] = numpy.nan
    numpy.testing.assert_array_equal(
        cupy.asnumpy(cupy.asarray(x).cumsum()), x.cumsum())


def test_cumsum_never_falls():
    x = cupy.asarray(numpy.abs(samples.numbers('float64', 500_000)))
    assert (cupy.diff(x.cumsum()) >= 0).all().item()


def test_cumsum_of_several_dimensions():
    x = samples.numbers('int32', (30, 40, 50))
    got = cupy.asarray(x).cumsum()
    numpy.testing.assert_array_equal(cupy.asnumpy(got), x.cumsum())


def test_threads_do_not_matter(set_num_threads):
    x = cupy.asarray(samples.numbers('float64', 300_000))
    set_num_threads(1)
    alone = x.cumsum()
    set_num_threads(3)
    assert (alone == x.cumsum()).all().item()
