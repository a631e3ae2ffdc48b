"""CuPy's ufuncs on Awkward Arrays of records and strings, and refusals.

Awkward finds the overloads of records by the ufunc: it has to receive
NumPy's.
"""
from __future__ import annotations


import awkward as ak
import numpy
import pytest

import cupy

BOTH = pytest.mark.parametrize(
    'xp, backend', [(numpy, 'cpu'), (cupy, 'cuda')], ids=['numpy', 'cupy'])


def _added(a, b):
    return ak.zip({'x': a.x + b.x, 'y': a.y + b.y}, with_name='point')


def _absolute(a):
    return numpy.sqrt(a.x ** 2 + a.y ** 2)


def _scaled(a, factor):
    return ak.zip({'x': a.x * factor, 'y': a.y * factor}, with_name='point')


class TestRecords:

    behavior = {
        (numpy.add, 'point', 'point'): _added,
        (numpy.absolute, 'point'): _absolute,
        (numpy.multiply, 'point', float): _scaled,
    }

    def points(self, backend, name='point'):
        fields = {'x': ak.Array([[3., 6.], [], [5.]]),
                  'y': ak.Array([[4., 8.], [], [12.]])}
        points = ak.zip(fields, with_name=name, behavior=self.behavior)
        return ak.to_backend(points, backend)

    @BOTH
    def test_overloads(self, xp, backend):
        points = self.points(backend)
        added = xp.add(points, points)
        assert added.x.to_list() == [[6., 12.], [], [10.]]
        assert added.y.to_list() == [[8., 16.], [], [24.]]
        assert xp.abs(points).to_list() == [[5., 10.], [], [13.]]
        assert xp.multiply(points, 2.).y.to_list() == [[8., 16.], [], [24.]]
        assert ak.backend(added) == backend

    @BOTH
    def test_no_overload_of_this_ufunc(self, xp, backend):
        points = self.points(backend)
        with pytest.raises(TypeError, match='no numpy.subtract overloads'):
            xp.subtract(points, points)

    @BOTH
    def test_records_without_a_name(self, xp, backend):
        points = self.points(backend, name=None)
        with pytest.raises(ValueError, match='cannot broadcast records'):
            xp.add(points, points)

    @BOTH
    def test_generic_overload(self, xp, backend):
        asked = []

        def any_ufunc(ufunc, method, inputs, kwargs):
            asked.append((ufunc, method))
            return inputs[0].x

        points = ak.with_name(self.points(backend), 'pixel')
        points.behavior = {(numpy.ufunc, 'pixel'): any_ufunc}
        assert xp.sin(points).to_list() == [[3., 6.], [], [5.]]
        assert asked == [(numpy.sin, '__call__')]


class TestStrings:

    left = ['one', 'two', '', 'three']
    right = ['one', 'owt', '', 'thre']

    def compare(self, name):
        answers = []
        for xp, backend in (numpy, 'cpu'), (cupy, 'cuda'):
            x, y = (ak.to_backend(ak.Array(s), backend)
                    for s in (self.left, self.right))
            answers.append(getattr(xp, name)(x, y).to_list())
        return answers

    @pytest.mark.parametrize('name', ['equal', 'not_equal'])
    def test_comparison(self, name):
        expected, actual = self.compare(name)
        assert actual == expected

    @BOTH
    def test_other_ufuncs(self, xp, backend):
        x = ak.to_backend(ak.Array(self.left), backend)
        with pytest.raises(TypeError, match='numpy.add is not implemented '
                                            'for string types'):
            xp.add(x, x)

    def test_one_string_has_another_backend_to_awkward(self):
        assert numpy.equal(ak.Array(self.left), 'two').to_list() == [
            False, True, False, False]
        x = ak.to_backend(ak.Array(self.left), 'cuda')
        for xp in numpy, cupy:
            with pytest.raises(ValueError, match='incompatible backends'):
                xp.equal(x, 'two')


class TestRefusals:
    """Awkward has only ``__call__`` without ``out``, for NumPy neither."""

    def array(self, backend):
        return ak.to_backend(ak.Array([[1., 2.], [3.]]), backend)

    @BOTH
    def test_out(self, xp, backend):
        x = self.array(backend)
        with pytest.raises(TypeError, match='all returned NotImplemented'):
            xp.add(x, 1, out=x)

    @BOTH
    @pytest.mark.parametrize('method', ['accumulate', 'reduce'])
    def test_reductions(self, xp, backend, method):
        with pytest.raises(TypeError, match=f"NotImplemented.*'{method}'"):
            getattr(xp.add, method)(self.array(backend))

    @BOTH
    def test_matmul(self, xp, backend):
        x = self.array(backend)
        with pytest.raises(NotImplementedError, match='not yet implemented '
                                                      'for Awkward Arrays'):
            xp.matmul(x, x)

    def test_backends_do_not_mix(self):
        with pytest.raises(ValueError, match='incompatible backends'):
            cupy.add(self.array('cuda'), self.array('cpu'))
        with pytest.raises(ValueError, match='incompatible backends'):
            cupy.add(cupy.ones(2), self.array('cpu'))
