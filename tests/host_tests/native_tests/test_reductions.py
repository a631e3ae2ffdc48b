"""Whole-array and contiguous-axis reductions against NumPy's."""
from __future__ import annotations

import math

import cupy
import numpy
import pytest

import samples

# Around the sizes at which the reduction changes its ways: strands of 16,
# leaves of 512, chunks of 65536.
SIZES = (1, 2, 15, 16, 17, 511, 512, 513, 65535, 65537, 200_000)


def check(got, expected, dtype):
    assert got.dtype == dtype
    numpy.testing.assert_allclose(
        cupy.asnumpy(got), expected.astype(dtype), **samples.tolerance(dtype))


@pytest.mark.parametrize('dtype', samples.NUMBERS)
@pytest.mark.parametrize('size', SIZES)
def test_sum(dtype, size):
    x = samples.numbers(dtype, size)
    exact = x.sum(dtype=samples.wide(dtype))
    # float16 holds no sums of this size to more than 1 in 2048
    check(cupy.asarray(x).sum(dtype=dtype), exact, dtype)


@pytest.mark.parametrize('dtype', samples.NUMBERS)
@pytest.mark.parametrize('size', [1, 17, 513])
def test_prod(dtype, size):
    x = samples.near_one(dtype, size)
    exact = x.prod(dtype=samples.wide(dtype))
    check(cupy.asarray(x).prod(dtype=dtype), exact, dtype)


@pytest.mark.parametrize(('dtype', 'large'), [
    ('complex64', 1e30), ('complex128', 1e300)])
@pytest.mark.filterwarnings('ignore:overflow:RuntimeWarning')
@pytest.mark.filterwarnings('ignore:invalid value:RuntimeWarning')
def test_complex_products_that_overflow(dtype, large):
    x = numpy.full(100, large * (1 + 1j), dtype)
    y = cupy.asarray(x)
    rows = cupy.stack([y] * 3).prod(axis=1)
    for got in y.prod(), y.cumprod()[-1], rows:
        assert cupy.isnan(got).all()
    assert numpy.isnan(x.prod())


@pytest.mark.parametrize('dtype', samples.NUMBERS)
def test_sum_and_prod_of_nothing(dtype):
    x = cupy.empty((0,), dtype)
    assert x.sum(dtype=dtype).item() == 0
    assert x.prod(dtype=dtype).item() == 1


def test_sum_is_accurate():
    # One after the other, these would lose 5 digits.
    x = numpy.full(1_000_001, 0.1)
    exact = math.fsum(x)
    assert abs(cupy.asarray(x).sum().item() - exact) < 1e-15 * exact


@pytest.mark.parametrize('name', ['min', 'max', 'argmin', 'argmax'])
@pytest.mark.parametrize('dtype', samples.NUMBERS)
@pytest.mark.parametrize('size', SIZES)
def test_extrema(name, dtype, size):
    x = samples.numbers(dtype, size)
    got = getattr(cupy.asarray(x), name)()
    assert got.item() == getattr(x, name)()


@pytest.mark.parametrize('name', ['min', 'max', 'argmin', 'argmax'])
@pytest.mark.parametrize('dtype', samples.REALS + samples.COMPLEX)
@pytest.mark.parametrize('value', [numpy.nan, numpy.inf, -numpy.inf])
@pytest.mark.parametrize('place', [0, 7, 600, 69_999])
def test_extrema_of_specials(name, dtype, value, place):
    x = samples.numbers(dtype, 70_000)
    x[place] = x[65_600] = value
    got = cupy.asnumpy(getattr(cupy.asarray(x), name)())
    numpy.testing.assert_array_equal(got, getattr(x, name)())


@pytest.mark.parametrize('dtype', samples.COMPLEX)
@pytest.mark.parametrize('name', ['min', 'max', 'argmin', 'argmax'])
def test_extrema_of_half_nan_complex(dtype, name):
    x = samples.numbers(dtype, 1000)
    x[300] = complex(1, numpy.nan)
    got = cupy.asnumpy(getattr(cupy.asarray(x), name)())
    numpy.testing.assert_array_equal(got, getattr(x, name)())


@pytest.mark.parametrize('dtype', samples.NUMBERS)
@pytest.mark.parametrize('name', ['argmin', 'argmax'])
def test_first_of_equals(dtype, name):
    x = samples.with_ties_and_specials(dtype, 200_000)
    x = x[~numpy.isnan(x)]
    assert getattr(cupy.asarray(x), name)().item() == getattr(x, name)()


@pytest.mark.parametrize('shape', [
    (1, 1), (1000, 3), (77, 9), (5, 1000), (3, 70_000), (40, 66_000)])
@pytest.mark.parametrize('dtype', [
    'int8', 'int64', 'float16', 'float32', 'float64', 'complex128'])
def test_rows(shape, dtype):
    x = samples.numbers(dtype, shape)
    y = cupy.asarray(x)
    check(y.sum(axis=1, dtype=dtype),
          x.sum(axis=1, dtype=samples.wide(dtype)), dtype)
    numpy.testing.assert_array_equal(cupy.asnumpy(y.min(axis=1)),
                                     x.min(axis=1))
    numpy.testing.assert_array_equal(cupy.asnumpy(y.max(axis=1)),
                                     x.max(axis=1))


def test_rows_of_fortran_order():
    x = numpy.asfortranarray(samples.numbers('float64', (50, 20)))
    got = cupy.asnumpy(cupy.asarray(x).sum(axis=0))
    numpy.testing.assert_allclose(got, x.sum(axis=0), **samples.CLOSE)


def test_row_equals_whole():
    x = cupy.asarray(samples.numbers('float64', 200_000))
    rows = cupy.stack([x] * 20)
    assert (rows.sum(axis=1) == x.sum()).all().item()


@pytest.mark.parametrize('name', ['sum', 'prod', 'max'])
def test_threads_do_not_matter(name, set_num_threads):
    x = cupy.asarray(samples.near_one('float64', 1_000_000))
    results = []
    for threads in (1, 2, 5):
        set_num_threads(threads)
        results.append(getattr(x, name)().item())
    assert len(set(results)) == 1
