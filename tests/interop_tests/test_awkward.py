"""CuPy's ufuncs on Awkward Arrays with the CUDA backend.

The oracle is NumPy's ufunc on the same array with the CPU backend.
"""
from __future__ import annotations

import warnings

import numpy
import pytest

import cupy
import cupyx

ak = pytest.importorskip('awkward')


def _contents():
    return ak.contents, ak.index


def _numbers(n=6):
    return ak.contents.NumpyArray(numpy.linspace(0.1, 0.9, n))


def _index(values, cls='Index64'):
    dtype = {'Index64': 'i8', 'Index8': 'i1'}[cls]
    return getattr(ak.index, cls)(numpy.array(values, dtype))


LAYOUTS = {
    'numpy': lambda: _numbers(),
    'numpy 2-d': lambda: ak.contents.NumpyArray(
        numpy.linspace(0.1, 0.9, 6).reshape(2, 3)),
    'list offset': lambda: ak.contents.ListOffsetArray(
        _index([0, 3, 3, 6]), _numbers()),
    'list': lambda: ak.contents.ListArray(
        _index([3, 0, 2]), _index([6, 0, 4]), _numbers()),
    'regular': lambda: ak.contents.RegularArray(_numbers(), 3),
    'indexed': lambda: ak.contents.IndexedArray(
        _index([5, 0, 0, 2]), _numbers()),
    'indexed option': lambda: ak.contents.IndexedOptionArray(
        _index([5, -1, 0, 2]), _numbers()),
    'byte masked': lambda: ak.contents.ByteMaskedArray(
        _index([1, 0, 1, 1, 0, 1], 'Index8'), _numbers(), True),
    'unmasked': lambda: ak.contents.UnmaskedArray(_numbers()),
    'option in list': lambda: ak.contents.ListOffsetArray(
        _index([0, 3, 3, 4]), ak.contents.IndexedOptionArray(
            _index([5, -1, 0, 2]), _numbers())),
    'list of lists': lambda: ak.contents.ListOffsetArray(
        _index([0, 2, 3]), ak.contents.ListOffsetArray(
            _index([0, 3, 3, 6]), _numbers())),
    'empty': lambda: ak.contents.ListOffsetArray(_index([0]), _numbers(0)),
}

UFUNCS = sorted({
    name for name in dir(numpy) if isinstance(getattr(numpy, name), numpy.ufunc)
    and isinstance(getattr(cupy, name, None), cupy.ufunc)})
INTEGER = {'bitwise_and', 'bitwise_or', 'bitwise_xor', 'bitwise_not',
           'bitwise_invert', 'invert', 'left_shift', 'right_shift', 'gcd',
           'lcm', 'bitwise_left_shift', 'bitwise_right_shift', 'ldexp',
           'bitwise_count'}
# These two need a kernel on the device for each layout; the others share.
FEW = ('sqrt', 'hypot', 'isfinite')


def outcome(call):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            return call()
        except Exception as e:
            return type(e)


def same(actual, expected):
    if isinstance(expected, tuple):
        return all(same(a, e) for a, e in zip(actual, expected))
    if isinstance(expected, type) or isinstance(actual, type):
        return actual is expected
    assert ak.backend(actual) == 'cuda'
    return ak.almost_equal(
        ak.to_backend(actual, 'cpu'), expected, rtol=1e-13, atol=1e-15)


def check(name, array):
    if name in INTEGER:
        array = ak.values_astype(array, 'int64')
    host, device = getattr(numpy, name), getattr(cupy, name)
    expected = outcome(lambda: host(*(array,) * host.nin))
    array = ak.to_backend(array, 'cuda')
    assert same(outcome(lambda: device(*(array,) * host.nin)), expected)


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('name', FEW)
def test_layouts(name, layout):
    check(name, ak.Array(LAYOUTS[layout]()))


@pytest.mark.parametrize('name', UFUNCS)
def test_ufuncs(name):
    check(name, ak.Array(LAYOUTS['list offset']()))


def lists(backend='cuda'):
    array = ak.Array([[1.5, 2.5], [], [4.0]])
    return ak.to_backend(array, backend)


class TestBroadcasting:

    def test_scalar(self):
        assert cupy.add(lists(), 1).to_list() == [[2.5, 3.5], [], [5.0]]

    def test_one_number_a_list(self):
        flat = cupy.array([10., 20., 30.])
        assert cupy.add(lists(), flat).to_list() == [[11.5, 12.5], [], [34.]]
        assert cupy.add(flat, lists()).to_list() == [[11.5, 12.5], [], [34.]]

    def test_operators_agree(self):
        flat = cupy.array([10., 20., 30.])
        assert (flat + lists()).to_list() == cupy.add(flat, lists()).to_list()

    def test_sliced(self):
        x, y = lists()[1:], lists('cpu')[1:]
        assert cupy.sqrt(x).to_list() == numpy.sqrt(y).to_list()

    def test_lists_that_do_not_fit(self):
        other = ak.to_backend(ak.Array([[1.0], [], [4.0]]), 'cuda')
        with pytest.raises(ValueError, match='broadcast'):
            cupy.add(lists(), other)


class TestRecords:

    def test_behavior(self):
        behavior = dict(ak.behavior)
        behavior[numpy.add, 'point', 'point'] = lambda a, b: 'added'
        behavior[numpy.absolute, 'point'] = lambda a: a.x
        points = ak.zip({'x': [1., 2.]}, with_name='point', behavior=behavior)
        points = ak.to_backend(points, 'cuda')
        assert cupy.add(points, points) == 'added'
        assert cupy.abs(points).to_list() == [1., 2.]

    def test_without_behavior(self):
        points = ak.to_backend(ak.zip({'x': [1., 2.]}), 'cuda')
        with pytest.raises(TypeError, match='no overloads|overload'):
            cupy.add(points, points)


class TestWithoutCounterpart:

    def test_rsqrt(self):
        result = cupyx.rsqrt(lists())
        expected = 1 / numpy.sqrt(lists('cpu'))
        assert ak.almost_equal(ak.to_backend(result, 'cpu'), expected)


def test_out_is_refused_by_awkward_itself():
    """Awkward has no ``out``, for NumPy neither."""
    for xp, backend in (numpy, 'cpu'), (cupy, 'cuda'):
        x = lists(backend)
        with pytest.raises(TypeError):
            xp.add(x, 1, out=x)
