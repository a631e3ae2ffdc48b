"""Awkward's own operations on CUDA arrays, which use cuda.compute."""
from __future__ import annotations

import awkward as ak
import numpy
import pytest

import cupy  # noqa: F401 (the host device)

LISTS = [[1.5, -2., 3.], [], [4.], [5., 6.25, -1., 0.]]
ARRAYS = {
    'floats': ak.Array(LISTS),
    'integers': ak.Array([[3, 1, 2], [], [7], [4, 4, 0, 9]]),
    'bools': ak.Array([[True, False, True], [], [True], [False] * 4]),
    'options': ak.Array([[1., None, 3.], None, [], [None, 2.]]),
    'nested': ak.Array([[[1, 2], []], [], [[3], [4, 5, 6]]]),
    'many': ak.unflatten(
        numpy.random.default_rng(1).normal(size=30_000),
        numpy.random.default_rng(2).multinomial(30_000, [1e-3] * 1000)),
}
OPERATIONS = {
    'sort': ak.sort,
    'sort downwards': lambda x: ak.sort(x, ascending=False),
    'argsort': ak.argsort,
    'pairs': lambda x: ak.combinations(x, 2),
    'pairs with replacement':
        lambda x: ak.combinations(x, 2, replacement=True),
    'cartesian product': lambda x: ak.cartesian([x, x]),
    'padded': lambda x: ak.pad_none(x, 2),
    'clipped': lambda x: ak.fill_none(ak.pad_none(x, 2, clip=True), 0),
    'without None': lambda x: ak.drop_none(x, axis=1),
    'first ones': ak.firsts,
    'positions': ak.local_index,
    'is None': lambda x: ak.is_none(x, axis=1),
    'flat': lambda x: ak.flatten(x, axis=None),
    'joined': lambda x: ak.concatenate([x, x]),
    'joined lists': lambda x: ak.concatenate([x, x], axis=1),
    'chosen': lambda x: x[x > 1],
    'masked': lambda x: ak.mask(x, x > 1),
    'where': lambda x: ak.where(x > 1, x, 0),
    'heads': lambda x: x[:, :1],
    'backwards': lambda x: x[::-1],
    'fancy': lambda x: x[[2, 0, 1]],
    'softmax': lambda x: ak.softmax(x, axis=-1),
    'number of each': lambda x: x + ak.num(x),
}
REDUCERS = ['sum', 'prod', 'min', 'max', 'any', 'all', 'count',
            'count_nonzero', 'mean', 'std', 'ptp']


# NumPy subtracts no bools, and Awkward reduces no float16.
NUMBERS = ['ptp', 'softmax']


def arrays_for(name):
    return [array for array in ARRAYS
            if not (name in NUMBERS and array == 'bools')]


def check(function, array):
    expected = function(array)
    actual = function(ak.to_backend(array, 'cuda'))
    if isinstance(expected, ak.Array):
        assert ak.backend(actual) == 'cuda'
        actual = ak.to_backend(actual, 'cpu')
        assert actual.type == expected.type
        assert ak.almost_equal(*(  # NaN of an empty list is a number here
            x if 'bool' in str(x.type) else ak.nan_to_num(x, nan=-99.)
            for x in (actual, expected)), rtol=1e-12, atol=1e-12)
    else:
        numpy.testing.assert_allclose(
            ak.to_numpy(ak.to_backend(actual, 'cpu')), expected, rtol=1e-12)


@pytest.mark.parametrize('axis', [-1, 0, None])
@pytest.mark.parametrize('name, array', [
    (name, array) for name in REDUCERS for array in arrays_for(name)])
def test_reducers(name, axis, array):
    if (name, axis, array) == ('std', 0, 'bools'):
        pytest.xfail('its code for bools does not compile')
    check(lambda x: getattr(ak, name)(x, axis=axis), ARRAYS[array])


@pytest.mark.parametrize('name, array', [
    (name, array) for name in OPERATIONS for array in arrays_for(name)])
def test_operations(name, array):
    check(OPERATIONS[name], ARRAYS[array])
