"""Methods of ufuncs that numba has compiled, against NumPy's."""
from __future__ import annotations

import numpy
import pytest

import cupy
import cupyx.numba

# Long enough for several threads to share a row.
LONG = 100_003


@cupyx.numba.vectorize
def subtract(x, y):
    return x - y


@cupyx.numba.vectorize(identity=0)
def add(x, y):
    return x + y


@cupyx.numba.vectorize
def second(x, y):
    """Associative, but not commutative."""
    return y


def array(*shape):
    return numpy.random.default_rng(1).random(shape)


def assert_same(actual, expected, **tolerance):
    assert type(actual) is cupy.ndarray
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    numpy.testing.assert_allclose(actual.get(), expected, **tolerance)


class TestReduce:

    @pytest.mark.parametrize('keepdims', [False, True])
    @pytest.mark.parametrize('axis', [0, 1, 2, -1])
    def test_axis_in_numpys_order(self, axis, keepdims):
        x = array(4, 5, 6)
        assert_same(
            subtract.reduce(cupy.asarray(x), axis, keepdims=keepdims),
            numpy.subtract.reduce(x, axis, keepdims=keepdims))

    @pytest.mark.parametrize('axis', [
        None, (0, 1), (0, 2), (1, 2), (2, 0), (0, 1, 2), (), -1])
    @pytest.mark.parametrize('keepdims', [False, True])
    def test_axes(self, axis, keepdims):
        x = array(4, 5, 6)
        assert_same(add.reduce(cupy.asarray(x), axis=axis, keepdims=keepdims),
                    numpy.add.reduce(x, axis=axis, keepdims=keepdims))

    @pytest.mark.parametrize('shape', [(LONG,), (2, LONG), (LONG, 3)])
    def test_long_rows(self, shape):
        x = array(*shape)
        axis = shape.index(LONG)
        assert_same(add.reduce(cupy.asarray(x), axis),
                    numpy.add.reduce(x, axis), rtol=1e-10)
        last = second.reduce(cupy.asarray(x), axis)
        assert (last == cupy.asarray(x.take(-1, axis))).all()

    @pytest.mark.parametrize('view', [
        lambda x: x.T, lambda x: x[::2, ::-1], lambda x: x[:, 1:3]])
    def test_layouts(self, view):
        x = array(6, 7)
        assert_same(subtract.reduce(view(cupy.asarray(x)), 0),
                    numpy.subtract.reduce(view(x), 0))

    @pytest.mark.parametrize('axis', [0, 1, None])
    @pytest.mark.parametrize('initial', [None, 3])
    def test_where(self, axis, initial):
        x = array(5, 40)
        kwargs = {} if initial is None else {'initial': initial}
        assert_same(
            add.reduce(cupy.asarray(x), axis,
                       where=cupy.asarray(x > 0.5), **kwargs),
            numpy.add.reduce(x, axis, where=x > 0.5, **kwargs))

    def test_where_of_a_long_row(self):
        x = array(LONG)
        d = cupy.asarray(x)
        assert_same(add.reduce(d, where=d > 0.5),
                    numpy.add.reduce(x, where=x > 0.5), rtol=1e-10)

    def test_where_needs_a_start(self):
        with pytest.raises(ValueError, match='identity.*initial'):
            subtract.reduce(cupy.ones(3), where=cupy.ones(3, bool))
        found = subtract.reduce(cupy.arange(5.), initial=1,
                                where=cupy.arange(5) > 2)
        assert found == 1 - 3 - 4

    def test_initial(self):
        x = array(4, 5)
        assert_same(subtract.reduce(cupy.asarray(x), 1, initial=10),
                    numpy.subtract.reduce(x, 1, initial=10))

    def test_empty(self):
        assert_same(add.reduce(cupy.empty((0, 3))), numpy.zeros(3))
        assert add.reduce(cupy.empty((3, 0)), 0).shape == (0,)
        assert subtract.reduce(cupy.empty(0), initial=2) == 2
        with pytest.raises(ValueError, match='zero-size array'):
            subtract.reduce(cupy.empty(0))

    def test_scalar_array(self):
        assert subtract.reduce(cupy.array(3.)) == 3

    def test_dtype_and_out(self):
        x = cupy.arange(6, dtype='b').reshape(2, 3)
        assert add.reduce(x).dtype == 'l'  # numba adds small integers so
        assert add.reduce(x, dtype='f').dtype == 'f'
        out = cupy.empty(3, 'F')
        assert add.reduce(x, dtype='f', out=out) is out
        assert out.tolist() == [3, 5, 7]
        with pytest.raises(ValueError, match='shape'):
            add.reduce(x, out=cupy.empty(2))
        with pytest.raises(TypeError, match='[Cc]annot cast'):
            add.reduce(x, dtype='d', out=cupy.empty(3, 'l'))

    def test_result_of_another_dtype(self):
        ufunc = cupyx.numba.vectorize(['bool(int64, int64)'])(
            lambda x, y: x > y)
        with pytest.raises(TypeError, match='has the dtype of its operands'):
            ufunc.reduce(cupy.arange(3))

    def test_axis_that_is_not_there(self):
        with pytest.raises(numpy.exceptions.AxisError):
            add.reduce(cupy.ones(3), 1)


class TestAccumulate:

    @pytest.mark.parametrize('axis', [0, 1, 2, -1])
    def test_in_numpys_order(self, axis):
        x = array(4, 5, 6)
        assert_same(subtract.accumulate(cupy.asarray(x), axis),
                    numpy.subtract.accumulate(x, axis))

    @pytest.mark.parametrize('shape', [(LONG,), (3_000_000,), (LONG, 2)])
    def test_long_rows(self, shape):
        x = array(*shape)
        assert_same(add.accumulate(cupy.asarray(x)),
                    numpy.add.accumulate(x), rtol=1e-9)
        assert (second.accumulate(cupy.asarray(x)) == cupy.asarray(x)).all()

    def test_dtype_and_out(self):
        out = cupy.empty(4, 'F')
        assert add.accumulate(
            cupy.arange(4, dtype='b'), dtype='f', out=out) is out
        assert out.tolist() == [0, 1, 3, 6]
        assert add.accumulate(cupy.empty((0, 2))).shape == (0, 2)
        with pytest.raises(TypeError, match='scalar'):
            add.accumulate(cupy.array(1.))


class TestReduceat:

    @pytest.mark.parametrize('axis', [0, 1, -1])
    @pytest.mark.parametrize('indices', [
        [0], [0, 3, 1, 4], [5, 5, 2], [0, 1, 2, 3, 4, 5]])
    def test_pieces(self, axis, indices):
        x = array(6, 7)
        assert_same(subtract.reduceat(cupy.asarray(x), indices, axis),
                    numpy.subtract.reduceat(x, indices, axis))
        assert_same(
            subtract.reduceat(cupy.asarray(x), cupy.array(indices), axis),
            numpy.subtract.reduceat(x, indices, axis))

    def test_out_of_bounds(self):
        with pytest.raises(IndexError, match=r'index 9 out-of-bounds'):
            add.reduceat(cupy.ones(3), [0, 9])


class TestAt:

    def test_repeated_places_in_their_order(self):
        rng = numpy.random.default_rng(2)
        places, values = rng.integers(0, 9, 500), rng.random(500)
        x, d = numpy.ones(10), cupy.ones(10)
        numpy.subtract.at(x, places, values)
        subtract.at(d, cupy.asarray(places), cupy.asarray(values))
        numpy.testing.assert_allclose(d.get(), x, rtol=1e-14)
        second.at(d, cupy.asarray(places), cupy.asarray(values))
        for place in set(places.tolist()):
            assert d[place] == values[places == place][-1]

    @pytest.mark.parametrize('index', [
        (slice(1, 3),), (slice(None), 1), ([0, 0, 1], [1, 1, 2]), (0,)])
    def test_indices(self, index):
        x = array(3, 4)
        d = cupy.asarray(x)
        numpy.subtract.at(x, index, 2)
        subtract.at(d, index, 2)
        numpy.testing.assert_allclose(d.get(), x)

    def test_unary(self):
        double = cupyx.numba.vectorize(lambda x: x * 2)
        d = cupy.ones(4)
        double.at(d, [0, 0, 2])
        assert d.tolist() == [4, 1, 2, 1]

    def test_layout_and_dtype_of_the_array(self):
        base = cupy.zeros((4, 4), 'f')
        add.at(base[::2, ::2], ([0, 0, 1], [1, 1, 0]), cupy.ones(3, 'f'))
        assert base[0, 2] == 2 and base[2, 0] == 1 and base.sum() == 3
        whole = cupy.zeros(3, 'i')
        with pytest.raises(TypeError, match='cannot cast'):
            add.at(whole, [0], 1.5)


class TestOuter:

    @pytest.mark.parametrize(('a', 'b'), [
        ((3,), (4,)), ((2, 3), (4,)), ((), (2,)), ((0,), (3,))])
    def test_pairs(self, a, b):
        x, y = array(*a), array(*b)
        assert_same(subtract.outer(cupy.asarray(x), cupy.asarray(y)),
                    numpy.subtract.outer(x, y))

    def test_needs_two_inputs(self):
        with pytest.raises(ValueError, match='binary'):
            cupyx.numba.vectorize(lambda x: x).outer(cupy.ones(1),
                                                     cupy.ones(1))
