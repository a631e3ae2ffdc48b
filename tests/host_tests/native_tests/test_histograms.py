"""Histograms against NumPy's."""
from __future__ import annotations

import cupy
import numpy
import pytest

import samples


def check(x, bins, **kwargs):
    expected, edges = numpy.histogram(x, bins, **kwargs)
    if isinstance(bins, numpy.ndarray):
        bins = cupy.asarray(bins)
    got, got_edges = cupy.histogram(cupy.asarray(x), bins, **kwargs)
    numpy.testing.assert_array_equal(cupy.asnumpy(got), expected)
    numpy.testing.assert_allclose(cupy.asnumpy(got_edges), edges, rtol=1e-6)


@pytest.mark.parametrize('dtype', samples.INTEGERS + ('float64',))
@pytest.mark.parametrize('size', [1, 1000, 100_000])
def test_edges(dtype, size):
    x = samples.with_ties_and_specials(dtype, size)
    x = x[~numpy.isnan(x)]
    check(x, numpy.array([-3.5, -3.0, -1.25, 0.0, 0.1, 2.0, 4.0]))


def test_float32_edges():
    x = samples.numbers('float32', 100_000)
    check(x, numpy.linspace(-2, 2, 33, dtype='float32'))


def test_float16_samples():
    x = samples.numbers('float16', 10_000)
    check(x, numpy.array([-2, -0.5, 0, 0.25, 3], 'float16'))


def test_equal_bins():
    # Widths that are exact: cupy.linspace rounds otherwise than NumPy's.
    check(samples.numbers('float64', 50_000), 128, range=(-3.0, 1.0))


def test_more_bins_than_samples():
    check(samples.numbers('float64', 500),
          numpy.linspace(-4, 4, 20_001))


def test_samples_on_the_edges():
    edges = numpy.arange(6.0)
    check(numpy.repeat(edges, 3), edges)


@pytest.mark.parametrize('dtype', samples.INTEGERS)
def test_bincount(dtype):
    x = (samples.numbers('uint8', 200_000) % 50).astype(dtype)
    got = cupy.bincount(cupy.asarray(x), minlength=60)
    expected = numpy.bincount(x.astype('int64'), minlength=60)
    numpy.testing.assert_array_equal(cupy.asnumpy(got), expected)


def test_threads_share_the_counting(set_num_threads):
    x = numpy.arange(1_000_000) % 1000
    set_num_threads(3)
    assert (cupy.bincount(cupy.asarray(x)) == 1000).all().item()
