"""Sorting against NumPy's stable sort, to the bit."""
from __future__ import annotations

import cupy
import numpy
import pytest

import samples

# Runs of 16, radix from 600 on, several threads from 32768 on.
SHAPES = ((1,), (2,), (16,), (17,), (599,), (600,), (5000,), (70_000,),
          (7, 3), (300, 40), (4, 700), (3, 2, 50), (1, 50_000))


def same_bits(a, b):
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.mark.parametrize('dtype', samples.ALL)
@pytest.mark.parametrize('shape', SHAPES)
def test_sort(dtype, shape):
    x = samples.with_ties_and_specials(dtype, shape)
    got = cupy.asnumpy(cupy.sort(cupy.asarray(x)))
    assert same_bits(got, numpy.sort(x, kind='stable'))


@pytest.mark.parametrize('dtype', samples.ALL)
@pytest.mark.parametrize('shape', SHAPES)
def test_argsort(dtype, shape):
    x = samples.with_ties_and_specials(dtype, shape)
    got = cupy.asnumpy(cupy.argsort(cupy.asarray(x)))
    numpy.testing.assert_array_equal(got, numpy.argsort(x, kind='stable'))


@pytest.mark.parametrize('dtype', samples.ALL)
@pytest.mark.parametrize('shape', [(1, 5), (3, 1000), (2, 50_000)])
def test_lexsort(dtype, shape):
    keys = samples.with_ties_and_specials(dtype, shape)
    got = cupy.asnumpy(cupy.lexsort(cupy.asarray(keys)))
    numpy.testing.assert_array_equal(got, numpy.lexsort(keys))


@pytest.mark.parametrize('axis', [0, 1, -1])
def test_axes(axis):
    x = samples.with_ties_and_specials('float32', (20, 30, 4))
    got = cupy.asnumpy(cupy.sort(cupy.asarray(x), axis=axis))
    numpy.testing.assert_array_equal(got, numpy.sort(x, axis, 'stable'))
    got = cupy.asnumpy(cupy.argsort(cupy.asarray(x), axis=axis))
    numpy.testing.assert_array_equal(got, numpy.argsort(x, axis, 'stable'))


@pytest.mark.parametrize('shape', [(0,), (3, 0), (0, 3)])
def test_nothing(shape):
    x = cupy.empty(shape)
    assert cupy.sort(x).shape == shape
    assert cupy.argsort(x).shape == shape


def test_argsort_leaves_its_argument_alone():
    x = samples.numbers('float64', 1000)
    y = cupy.asarray(x)
    cupy.argsort(y)
    assert same_bits(cupy.asnumpy(y), x)


@pytest.mark.parametrize('threads', [1, 2, 3, 7])
def test_threads(threads, set_num_threads):
    x = samples.with_ties_and_specials('complex64', 200_001)
    set_num_threads(threads)
    got = cupy.asnumpy(cupy.argsort(cupy.asarray(x)))
    numpy.testing.assert_array_equal(got, numpy.argsort(x, kind='stable'))


def test_sorted_and_reversed():
    x = cupy.arange(100_000)
    assert (cupy.sort(x) == x).all().item()
    assert (cupy.sort(x[::-1].copy()) == x).all().item()
