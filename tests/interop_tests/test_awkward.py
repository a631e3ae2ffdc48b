"""CuPy's ufuncs on Awkward Arrays with the CUDA backend: numbers.

The oracle is NumPy's ufunc on the same array with the CPU backend.
"""
from __future__ import annotations


import awkward as ak
import numpy
import pytest

import cupy
import cupyx



def index(values, cls='Index64'):
    dtype = {'Index64': 'i8', 'Index8': 'i1', 'IndexU8': 'u1'}[cls]
    return getattr(ak.index, cls)(numpy.array(values, dtype))


def numbers(n=6):
    return ak.contents.NumpyArray(numpy.linspace(0.1, 0.9, n))


def lists(content=None):
    return ak.contents.ListOffsetArray(
        index([0, 3, 3, 6]), numbers() if content is None else content)


def options():
    return ak.contents.IndexedOptionArray(index([5, -1, 0, 2]), numbers())


def union():
    return ak.contents.UnionArray(
        index([0, 1, 0, 1, 1], 'Index8'), index([0, 0, 1, 1, 2]),
        [numbers(2), lists()])


LAYOUTS = {
    'numpy': numbers,
    'numpy 2-d': lambda: ak.contents.NumpyArray(
        numpy.linspace(0.1, 0.9, 6).reshape(2, 3)),
    'list offset': lists,
    'regular': lambda: ak.contents.RegularArray(numbers(), 3),
    'regular of regular': lambda: ak.contents.RegularArray(
        ak.contents.RegularArray(numbers(), 3), 2),
    'indexed': lambda: ak.contents.IndexedArray(
        index([5, 0, 0, 2]), numbers()),
    'indexed option': options,
    'unmasked': lambda: ak.contents.UnmaskedArray(numbers()),
    'option in list': lambda: ak.contents.ListOffsetArray(
        index([0, 3, 3, 4]), options()),
    'list of lists': lambda: ak.contents.ListOffsetArray(
        index([0, 2, 3]), lists()),
    'no lists': lambda: ak.contents.ListOffsetArray(index([0]), numbers(0)),
    'empty lists': lambda: ak.contents.ListOffsetArray(
        index([0, 0, 0]), numbers(0)),
    'unknown type': ak.contents.EmptyArray,
    'sliced': lambda: lists()[1:],
    'strided': lambda: numbers()[::2],
    # With these, Awkward itself calls algorithms of cuda.compute.
    'list': lambda: ak.contents.ListArray(
        index([3, 0, 2]), index([6, 0, 4]), numbers()),
    'byte masked': lambda: ak.contents.ByteMaskedArray(
        index([1, 0, 1, 1, 0, 1], 'Index8'), numbers(), True),
    'bit masked': lambda: ak.contents.BitMaskedArray(
        index([0b101101], 'IndexU8'), numbers(), True, 6, True),
    'option of lists': lambda: ak.contents.IndexedOptionArray(
        index([2, -1, 0]), lists()),
    'indexed lists': lambda: ak.contents.IndexedArray(index([2, 0]), lists()),
    'union': union,
    'lists by a mask': lambda: ak.Array(lists())[[True, False, True]].layout,
}

UFUNCS = sorted(
    name for name in dir(numpy)
    if isinstance(getattr(numpy, name), numpy.ufunc)
    and isinstance(getattr(cupy, name, None), cupy.ufunc))
INTEGER = {
    'bitwise_and', 'bitwise_or', 'bitwise_xor', 'bitwise_not',
    'bitwise_invert', 'invert', 'left_shift', 'right_shift', 'gcd', 'lcm',
    'bitwise_left_shift', 'bitwise_right_shift', 'bitwise_count'}


def operands(name):
    """Two arrays in the domain of the ufunc, of different values."""
    first = ak.Array(lists())
    second = ak.Array(lists(ak.contents.NumpyArray(
        numpy.linspace(0.7, 0.2, 6))))
    if name in ('acosh', 'arccosh'):
        first = first + 1
    if name in INTEGER:
        first = ak.values_astype(first * 20, 'int64')
    if name in INTEGER or name == 'ldexp':
        second = ak.values_astype(second * 10, 'int64')
    return first, second


def to_device(x):
    return ak.to_backend(x, 'cuda') if isinstance(x, ak.Array) else x


def assert_same(actual, expected):
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert_same(a, e)
        return
    assert ak.backend(actual) == 'cuda'
    # Types and dtypes count, too.
    assert ak.almost_equal(
        ak.to_backend(actual, 'cpu'), expected, rtol=1e-13, atol=1e-15)


def check(name, *arrays):
    host, device = getattr(numpy, name), getattr(cupy, name)
    arrays = arrays[:host.nin]
    assert_same(device(*map(to_device, arrays)), host(*arrays))


@pytest.mark.parametrize('name', UFUNCS)
def test_ufuncs(name):
    check(name, *operands(name))


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('name', ['sqrt', 'hypot', 'isfinite'])
def test_layouts(name, layout):
    array = ak.Array(LAYOUTS[layout]())
    check(name, array, array)


@pytest.mark.parametrize('dtype', ['bool', 'int8', 'float32', 'complex64'])
@pytest.mark.parametrize('scalar', [2, 0.5])
def test_scalars_keep_the_dtype_as_in_numpy(dtype, scalar):
    array = ak.values_astype(ak.Array([[1, 0], [], [3]]), dtype)
    check('multiply', array, scalar)
    check('multiply', scalar, array)


class TestBroadcasting:

    def array(self):
        return ak.Array([[1.5, 2.5], [], [4.0]])

    @pytest.mark.parametrize('name', ['add', 'less'])
    def test_one_number_a_list(self, name):
        flat = numpy.array([10., 20., 30.])
        expected = getattr(numpy, name)(self.array(), flat)
        device = to_device(self.array())
        ufunc = getattr(cupy, name)
        assert_same(ufunc(device, cupy.asarray(flat)), expected)
        expected = getattr(numpy, name)(flat, self.array())
        assert_same(ufunc(cupy.asarray(flat), device), expected)

    def test_operators(self):
        flat = numpy.array([10., 20., 30.])
        x, y = to_device(self.array()), self.array()
        assert_same(cupy.asarray(flat) + x, flat + y)
        assert_same(x - cupy.asarray(flat), y - flat)
        assert_same(cupy.asarray(flat) > x, flat > y)
        assert_same(2 ** x, 2 ** y)
        assert_same(-x, -y)

    def test_lists_that_do_not_fit(self):
        for xp, device in (numpy, lambda x: x), (cupy, to_device):
            other = device(ak.Array([[1.0], [], [4.0]]))
            with pytest.raises(ValueError, match='cannot broadcast nested'):
                xp.add(device(self.array()), other)


def test_cupyx_without_counterpart():
    array = ak.Array(lists())
    assert_same(cupyx.rsqrt(to_device(array)), 1 / numpy.sqrt(array))


def test_numpy_ufunc_on_the_device():
    array = ak.Array(lists())
    assert_same(numpy.sqrt(to_device(array)), numpy.sqrt(array))
