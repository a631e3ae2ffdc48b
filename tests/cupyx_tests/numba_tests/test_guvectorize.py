"""Generalized ufuncs, against numba's own on the CPU."""
from __future__ import annotations

import numba
import numpy
import pytest

import cupy
import cupyx.numba
from cupyx.numba._choice import compiler

# numba-cuda-mlir computes with it as with a number.
NAT = '2020-02-02' if compiler.package == 'numba-cuda-mlir' else 'NaT'


def dot(x, y, result):
    total = 0.
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    result[0] = total


def product(x, y, result):
    for i in range(x.shape[0]):
        for k in range(y.shape[1]):
            total = 0.
            for j in range(x.shape[1]):
                total += x[i, j] * y[j, k]
            result[i, k] = total


def shifted(x, by, result):
    for i in range(x.shape[0]):
        result[i] = x[i] + by


DOT = ['void(float32[:], float32[:], float32[:])',
       'void(float64[:], float64[:], float64[:])'], '(n),(n)->()'
PRODUCT = ['void(float64[:,:], float64[:,:], float64[:,:])'], (
    '(i,j),(j,k)->(i,k)')
SHIFTED = ['void(float64[:], float64, float64[:])'], '(n),()->(n)'


@pytest.fixture(scope='module', params=['dot', 'product', 'shifted'])
def pair(request):
    """A ufunc of CuPy and numba's for the CPU."""
    function, arguments = {
        'dot': (dot, DOT), 'product': (product, PRODUCT),
        'shifted': (shifted, SHIFTED)}[request.param]
    return (cupyx.numba.guvectorize(*arguments)(function),
            numba.guvectorize(*arguments)(function))


def array(*shape):
    return numpy.random.default_rng(len(shape)).random(shape)


def check(pair, x, y, **kwargs):
    ours, numbas = pair
    expected = numbas(x, y, **kwargs)
    actual = ours(cupy.asarray(x), cupy.asarray(y), **kwargs)
    assert type(actual) is cupy.ndarray
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    numpy.testing.assert_allclose(actual.get(), expected, rtol=1e-12)


# numba#6421, numba#5640: loop dimensions broadcast as in NumPy.
@pytest.mark.parametrize(('x', 'y'), [
    ((4,), (4,)), ((3, 4), (4,)), ((4,), (3, 4)), ((3, 4), (3, 4)),
    ((2, 1, 4), (3, 4)), ((2, 3, 4), (1, 3, 4)), ((1, 4), (3, 4)),
    ((0, 4), (4,)), ((3, 0), (3, 0))])
def test_loop_dimensions(x, y):
    gufunc = (cupyx.numba.guvectorize(*DOT)(dot),
              numba.guvectorize(*DOT)(dot))
    check(gufunc, array(*x), array(*y))


@pytest.mark.parametrize(('x', 'y'), [
    ((3, 4), (4, 2)), ((5, 3, 4), (4, 2)), ((3, 4), (5, 4, 2)),
    ((2, 1, 3, 4), (5, 4, 2)), ((1, 1), (1, 1))])
def test_core_dimensions(x, y):
    gufunc = (cupyx.numba.guvectorize(*PRODUCT)(product),
              numba.guvectorize(*PRODUCT)(product))
    check(gufunc, array(*x), array(*y))


@pytest.mark.parametrize(('x', 'y'), [
    ((4,), ()), ((3, 4), ()), ((3, 4), (3,)), ((4,), (3,)),
    ((2, 3, 4), (3,)), ((2, 1, 4), (1, 3))])
def test_scalars(x, y):
    gufunc = (cupyx.numba.guvectorize(*SHIFTED)(shifted),
              numba.guvectorize(*SHIFTED)(shifted))
    check(gufunc, array(*x), array(*y))


class TestLayouts:

    @pytest.mark.parametrize('view', [
        lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::-1],
        lambda x: x[::2, ::2], lambda x: x[:4, :4].copy('F')])
    def test_views(self, view):
        gufunc = (cupyx.numba.guvectorize(*DOT)(dot),
                  numba.guvectorize(*DOT)(dot))
        x = array(6, 6)
        ours = gufunc[0](view(cupy.asarray(x)), view(cupy.asarray(x)))
        numpy.testing.assert_allclose(
            ours.get(), gufunc[1](view(x), view(x)))

    def test_keywords(self):
        gufunc = (cupyx.numba.guvectorize(*DOT)(dot),
                  numba.guvectorize(*DOT)(dot))
        x = array(4, 4)
        check(gufunc, x, x, axis=0)
        check(gufunc, x, x, keepdims=True)
        check(gufunc, x, x, axes=[0, 1, ()])
        check(gufunc, array(3, 4, 4), x, axis=1, keepdims=True)

    def test_axes(self):
        gufunc = (cupyx.numba.guvectorize(*PRODUCT)(product),
                  numba.guvectorize(*PRODUCT)(product))
        check(gufunc, array(3, 4, 5), array(5, 2),
              axes=[(1, 2), (0, 1), (0, 1)])


class TestOut:

    @pytest.fixture
    def gufunc(self):
        return cupyx.numba.guvectorize(*SHIFTED)(shifted)

    def test_by_keyword_and_position(self, gufunc):
        x, out = cupy.arange(6.).reshape(2, 3), cupy.empty((2, 3))
        assert gufunc(x, 1, out=out) is out
        assert (out == x + 1).all()
        assert gufunc(x, 2, out) is out
        assert (out == x + 2).all()

    def test_in_place(self):
        gufunc = cupyx.numba.guvectorize(
            'void(float64[:], float64[:])', '(n)->(n)')(reverse)
        x = cupy.arange(6.)
        assert gufunc(x, out=x).tolist() == [5, 4, 3, 2, 1, 0]

    def test_strided_and_cast(self, gufunc):
        base = cupy.zeros((3, 4), 'f')
        gufunc(cupy.arange(3.), 1, out=base[:, 1])
        assert base[:, 1].tolist() == [1, 2, 3] and base.sum() == 6

    def test_errors(self, gufunc):
        with pytest.raises(ValueError, match=r'shape \(4,\), not \(3,\)'):
            gufunc(cupy.ones(3), 1, out=cupy.empty(4))
        with pytest.raises(TypeError, match='cannot cast output 0'):
            gufunc(cupy.ones(3), 1, out=cupy.empty(3, 'i'))


def reverse(x, result):
    n = x.shape[0]
    for i in range(n):
        result[i] = x[n - 1 - i]


def test_several_outputs():
    @cupyx.numba.guvectorize(
        ['void(float64[:], float64[:], float64[:])'], '(n)->(),()')
    def extremes(x, low, high):
        low[0] = x[0]
        high[0] = x[0]
        for value in x:
            low[0] = min(low[0], value)
            high[0] = max(high[0], value)

    x = array(5, 7)
    low, high = extremes(cupy.asarray(x))
    assert (low.get() == x.min(1)).all() and (high.get() == x.max(1)).all()


class TestDtypes:

    @pytest.mark.parametrize(('dtype', 'result'), [
        ('f', 'f'), ('e', 'f'), ('h', 'f'), ('d', 'd'), ('i', 'd')])
    def test_first_that_fits(self, dtype, result):
        gufunc = cupyx.numba.guvectorize(*DOT)(dot)
        x = cupy.ones(3, dtype)
        assert gufunc(x, x).dtype == result
        assert gufunc.types == ['ff->f', 'dd->d']
        assert gufunc(x, x, dtype='d').dtype == 'd'

    def test_none_fits(self):
        gufunc = cupyx.numba.guvectorize(*DOT)(dot)
        with pytest.raises(TypeError, match='complex64.*ff->f, dd->d'):
            gufunc(cupy.ones(3, 'F'), cupy.ones(3, 'F'))

    @pytest.mark.parametrize('dtype', 'bHqfdFD')
    def test_without_signatures(self, dtype):
        gufunc = cupyx.numba.guvectorize('(n)->(n)')(reverse)
        x = cupy.arange(4).astype(dtype)
        out = cupy.empty_like(x)
        assert gufunc(x, out) is out
        assert (out == x[::-1]).all()
        with pytest.raises(TypeError, match='outputs have to be given'):
            gufunc(x)

    def test_old_style_scalars(self):
        # A one-element array may stand for a scalar in a signature.
        @cupyx.numba.guvectorize(
            'void(float64[:], float64[:], float64[:])', '(n),()->()')
        def weighted(x, weight, result):
            result[0] = x.sum() * weight[0]

        assert weighted(cupy.ones((2, 3)), cupy.arange(2.)).tolist() == [
            0, 3]


class TestDates:
    """As of the host; CuPy has no arrays of them."""

    days = numpy.array([['2026-12-01', '2026-12-24', '2026-01-01'],
                        ['2025-03-04', NAT, '2024-02-29']], 'M8[D]')

    @staticmethod
    def differ(start, end, result):
        result[0] = end - start

    @staticmethod
    def span(days, result):
        result[0] = days[-1] - days[0]

    def check(self, result, expected):
        assert type(result) is type(expected)
        assert result.dtype == expected.dtype
        numpy.testing.assert_array_equal(result, expected)

    @pytest.mark.parametrize('unit', ['D', 's'])
    def test_scalars(self, unit):
        date, time = numba.types.NPDatetime(unit), numba.types.NPTimedelta(
            unit)
        gufunc = cupyx.numba.guvectorize(
            [(date, date, time[:])], '(),()->()')(self.differ)
        expected = (self.days - self.days[0]).astype(f'm8[{unit}]')
        self.check(gufunc(self.days[0], self.days), expected)
        self.check(gufunc(self.days[0, 0], self.days[1, 0]), expected[1, 0])

    def test_core_dimensions(self):
        gufunc = cupyx.numba.guvectorize([(
            numba.types.NPDatetime('D')[:], numba.types.NPTimedelta('D')[:])],
            '(n)->()')(self.span)
        self.check(gufunc(self.days.T), self.days[-1] - self.days[0])
        with pytest.raises(TypeError, match='no arrays of timedelta64'):
            gufunc(self.days, out=numpy.empty(2, 'm8[D]'))


class TestErrors:

    def test_core_dimensions(self):
        gufunc = cupyx.numba.guvectorize(*DOT)(dot)
        with pytest.raises(ValueError, match='mismatch in its core dim'):
            gufunc(cupy.ones(3), cupy.ones(4))
        with pytest.raises(ValueError, match='0 dimensions'):
            gufunc(cupy.ones(3), 1)
        with pytest.raises(TypeError, match='accepts 2 positional arg'):
            gufunc(cupy.ones(3))

    @pytest.mark.parametrize('layout', ['(n),(n)->(k)', '(n?),(n)->()'])
    def test_layouts(self, layout):
        with pytest.raises(ValueError, match='core dimension'):
            cupyx.numba.guvectorize(DOT[0], layout)(dot)

    @pytest.mark.parametrize(('signature', 'text'), [
        ('void(float64[:], float64[:])', 'needs 3 arguments'),
        ('void(float64[:,:], float64[:], float64[:])', '1 dimensions'),
        ('void(float64, float64[:], float64[:])', '1 dimensions'),
        ('void(float64[:], float64[:], float64)', '0 dimensions'),
        ('float64(float64[:], float64[:], float64[:])', 'return type')])
    def test_signatures(self, signature, text):
        with pytest.raises(TypeError, match=text):
            cupyx.numba.guvectorize(signature, '(n),(n)->()')(dot)


def test_attributes(pair):
    gufunc, numbas = pair
    assert isinstance(gufunc, cupy._core._gufuncs._GUFunc)
    assert gufunc.__name__ == numbas.__name__
    assert gufunc.signature == numbas.signature
    assert (gufunc.nin, gufunc.nout) == (2, 1)
    assert repr(gufunc).startswith(f"<gufunc '{gufunc.__name__}'")


def test_strides_that_are_no_whole_elements():
    records = numpy.zeros((4, 5), [('a', 'b'), ('x', 'f8')])
    records['x'] = numpy.arange(20).reshape(4, 5)
    memory = cupy.asarray(records.view('b').ravel())

    def field(memory):
        return cupy.ndarray((4, 5), 'f8', memory.data + 1, strides=(45, 9))

    shift = cupyx.numba.guvectorize(*SHIFTED)(shifted)
    out = field(cupy.zeros_like(memory))
    assert shift(field(memory), 2., out=out) is out
    numpy.testing.assert_array_equal(out.get(), records['x'] + 2)
