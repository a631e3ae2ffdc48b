"""CuPy's ufuncs on xarray's objects that hold CuPy arrays."""
from __future__ import annotations

import numpy
import pytest
import xarray

import cupy

VALUES = numpy.linspace(1., 2., 6).reshape(2, 3)
BOTH = pytest.mark.parametrize('xp', [numpy, cupy])


def variable(xp):
    return xarray.Variable(('x', 'y'), xp.array(VALUES), {'units': 'm'})


def data_array(xp):
    return xarray.DataArray(
        xp.array(VALUES), dims=('x', 'y'), coords={'x': [10, 20]}, name='a')


def dataset(xp):
    return xarray.Dataset({'a': data_array(xp), 'b': data_array(xp) * 2})


def assert_same(actual, expected):
    """Compares values, dimensions, coordinates and names."""
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert_same(a, e)
        return
    assert type(actual) is type(expected)
    whole = (actual.values() if isinstance(actual, xarray.Dataset)
             else [actual])
    for part in whole:
        assert isinstance(part.data, cupy.ndarray)
    actual = actual.as_numpy()
    xarray.testing.assert_allclose(actual, expected, rtol=1e-14)
    if not isinstance(expected, xarray.Dataset):
        assert actual.dtype == expected.dtype


FUNCTIONS = {
    'sqrt': lambda xp, x: xp.sqrt(x),
    'add': lambda xp, x: xp.add(x, x),
    'scalar': lambda xp, x: xp.subtract(3, x),
    'less': lambda xp, x: xp.less(x, 1.5),
    'dtype': lambda xp, x: xp.add(x, 1, dtype='float32'),
}


@pytest.mark.parametrize('make', [variable, data_array, dataset])
@pytest.mark.parametrize('function', FUNCTIONS)
def test_functions(function, make):
    call = FUNCTIONS[function]
    assert_same(call(cupy, make(cupy)), call(numpy, make(numpy)))


ON_DATA_ARRAYS = {
    'array first': lambda xp, x: xp.multiply(xp.asarray(VALUES), x),
    'array second': lambda xp, x: xp.multiply(x, xp.asarray(VALUES)),
    'operator': lambda xp, x: xp.asarray(VALUES) * x,
    'inner join': lambda xp, x: xp.add(x, x[:1]),
    'broadcast': lambda xp, x: xp.hypot(x[0], x.rename(y='z')),
    'two outputs': lambda xp, x: xp.modf(x),
    'two inputs and outputs': lambda xp, x: xp.divmod(x, 0.25),
    'integer output': lambda xp, x: xp.frexp(x),
    'selected': lambda xp, x: xp.exp(x.sel(x=20)),
    'masked': lambda xp, x: x.where(xp.less(x, 1.5)),
    'groups': lambda xp, x: xp.negative(x.groupby('x').mean()),
    'sum': lambda xp, x: xp.sqrt(x).sum('x'),
}


@pytest.mark.parametrize('function', ON_DATA_ARRAYS)
def test_data_arrays(function):
    call = ON_DATA_ARRAYS[function]
    assert_same(call(cupy, data_array(cupy)), call(numpy, data_array(numpy)))


def test_variable_with_a_dataset():
    assert_same(cupy.add(variable(cupy), dataset(cupy)),
                numpy.add(variable(numpy), dataset(numpy)))


def test_in_place():
    results = []
    for xp in numpy, cupy:
        x = data_array(xp)
        held = x.data
        x += xp.asarray(VALUES)
        assert x.data is held
        results.append(x)
    assert_same(results[1], results[0])


class TestRefusals:
    """What xarray supports of no library."""

    @BOTH
    def test_matmul(self, xp):
        x = data_array(xp)
        with pytest.raises(NotImplementedError, match='generalized ufuncs'):
            xp.matmul(x, x)

    @BOTH
    def test_reduce(self, xp):
        with pytest.raises(NotImplementedError, match='reduce method'):
            xp.add.reduce(data_array(xp))

    @BOTH
    def test_out(self, xp):
        with pytest.raises(NotImplementedError, match='`out` argument'):
            xp.add(xp.asarray(VALUES), 1, out=data_array(xp))

    @BOTH
    def test_unknown_operand(self, xp):
        with pytest.raises(TypeError, match='NotImplemented'):
            xp.add(data_array(xp), object())
