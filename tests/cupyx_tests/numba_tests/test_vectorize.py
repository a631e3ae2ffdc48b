"""Ufuncs that numba has compiled, against numba's own on the CPU."""
from __future__ import annotations

import cmath
import importlib
import math
import threading

import numba
import numpy
import pytest

import cupy
import cupyx.numba
from cupyx.numba._choice import compiler

# numba-cuda-mlir computes float32 from float16.
HALF = 'f' if compiler.package == 'numba-cuda-mlir' else 'e'


def polynomial(x, y):
    return x * x + y


def branches(x, y):
    if x > y:
        return x - y
    return y * 2


@pytest.fixture(scope='module')
def ufunc():
    return cupyx.numba.vectorize(polynomial)


@pytest.fixture(scope='module')
def typed():
    return cupyx.numba.vectorize(
        ['int32(int32, int32)', 'float32(float32, float32)',
         'float64(float64, float64)'])(polynomial)


def operands(dtype, shape=(3, 4)):
    rng = numpy.random.default_rng(1)
    values = rng.integers(0, 10, (2, *shape))
    if numpy.dtype(dtype).kind == 'c':
        values = values + 1j * rng.integers(0, 10, (2, *shape))
    return values.astype(dtype)


@pytest.mark.parametrize(('function', 'dtype'), [
    *((polynomial, c) for c in '?bhilqBHILQfdFD'),
    *((branches, c) for c in '?bhilqBHILQfd')])
def test_dtypes(function, dtype):
    x, y = operands(dtype)
    expected = numba.vectorize(function)(x, y)
    actual = cupyx.numba.vectorize(function)(cupy.asarray(x),
                                             cupy.asarray(y))
    assert type(actual) is cupy.ndarray
    assert actual.dtype == expected.dtype
    numpy.testing.assert_array_equal(actual.get(), expected)


@pytest.mark.parametrize('dtype', '?bhilqBHILQefd')
def test_bool_results(dtype):
    x, y = operands(dtype)
    less = cupyx.numba.vectorize(lambda x, y: x < y)
    actual = less(cupy.asarray(x), cupy.asarray(y))
    assert actual.dtype == bool
    numpy.testing.assert_array_equal(actual.get(), x < y)


def test_bool_among_several_results():
    both = cupyx.numba.vectorize(['Tuple((float64, boolean))(float64, b1)'])(
        lambda x, flag: (x / 2, flag and x > 1))
    x = numpy.arange(4.)
    half, large = both(cupy.asarray(x), cupy.array([1, 1, 1, 0], bool))
    assert half.tolist() == [0, .5, 1, 1.5]
    assert large.tolist() == [False, False, True, False]


def test_float16(ufunc):
    x, y = operands('e')
    actual = ufunc(cupy.asarray(x), cupy.asarray(y))
    assert actual.dtype == HALF
    numpy.testing.assert_array_equal(actual.get(), x * x + y)


@pytest.mark.parametrize('dtypes', ['bd', 'if', 'fd', '?q', 'dF', 'Bh'])
def test_mixed_dtypes(ufunc, dtypes):
    x = operands(dtypes[0])[0]
    y = operands(dtypes[1])[1]
    expected = numba.vectorize(polynomial)(x, y)
    actual = ufunc(cupy.asarray(x), cupy.asarray(y))
    assert actual.dtype == expected.dtype
    numpy.testing.assert_array_equal(actual.get(), expected)


@pytest.mark.parametrize(('dtype', 'scalar', 'result'), [
    ('f', 2, 'f'), ('f', 2.5, 'f'), ('i', 2.5, 'd'), ('b', 3, 'l'),
    ('d', 1j, 'D'), ('f', 1j, 'F'), ('f', numpy.float64(2), 'd'),
    ('f', True, 'f'), ('e', 1, HALF)])
def test_python_scalars_are_weak(ufunc, dtype, scalar, result):
    x = operands(dtype)[0]
    actual = ufunc(cupy.asarray(x), scalar)
    assert actual.dtype == result
    numpy.testing.assert_array_equal(actual.get(), x * x + scalar)


def test_dtypes_do_not_depend_on_the_order_of_calls():
    for dtypes in 'df', 'fd':
        ufunc = cupyx.numba.vectorize(polynomial)
        assert [ufunc(cupy.ones(2, t), 1).dtype for t in dtypes] == [
            *dtypes]
        assert ufunc.types == [f'{t}{t}->{t}' for t in dtypes]


@pytest.mark.parametrize('layout', [
    lambda x: x.T, lambda x: x[::2], lambda x: x[:, ::-1],
    lambda x: x[1:, 1:], lambda x: x[None], lambda x: x[:1],
    lambda x: x[0, 0], lambda x: x[:0], lambda x: x[:, :, None]])
def test_layouts(ufunc, layout):
    x, _ = operands('d')
    actual = ufunc(layout(cupy.asarray(x)), 3)
    expected = layout(x) ** 2 + 3
    assert actual.shape == expected.shape
    numpy.testing.assert_array_equal(actual.get(), expected)


def test_broadcasting(ufunc):
    x, y = operands('d')
    for a, b in (x, y[0]), (x[:, :1], y[:1]), (x[0, 0], y), (x, y[None]):
        actual = ufunc(cupy.asarray(a), cupy.asarray(b))
        numpy.testing.assert_array_equal(actual.get(), a * a + b)
    with pytest.raises(ValueError, match='[Bb]roadcast'):
        ufunc(cupy.ones(3), cupy.ones(4))


class TestKeywords:

    @pytest.mark.parametrize('ndim', [1, 2, 3])
    @pytest.mark.parametrize('dtype', 'dD')
    def test_out(self, ufunc, ndim, dtype):
        x, y = operands('d', (2, 3, 4)[:ndim])
        out = cupy.empty(x.shape, dtype)
        assert ufunc(cupy.asarray(x), cupy.asarray(y), out=out) is out
        numpy.testing.assert_array_equal(out.get(), x * x + y)
        out[...] = 0
        assert ufunc(cupy.asarray(x), cupy.asarray(y), out) is out
        numpy.testing.assert_array_equal(out.get(), x * x + y)

    def test_out_is_cast_by_casting(self, ufunc):
        out = cupy.empty(3, 'i')
        with pytest.raises(TypeError, match='[Cc]annot cast'):
            ufunc(cupy.ones(3), 1, out=out)
        ufunc(cupy.full(3, 1.5), 1, out=out, casting='unsafe')
        assert (out == 3).all()

    def test_where(self, ufunc):
        out = cupy.zeros(4)
        ufunc(cupy.arange(4.), 1, out=out, where=cupy.arange(4) % 2 == 1)
        assert out.tolist() == [0, 2, 0, 10]

    @pytest.mark.parametrize('name', ['ufunc', 'typed'])
    def test_dtype(self, request, name):
        ufunc = request.getfixturevalue(name)
        assert ufunc(cupy.arange(3, dtype='i'), 1, dtype='f').dtype == 'f'

    def test_unknown(self, ufunc):
        with pytest.raises(TypeError, match='axis'):
            ufunc(cupy.ones(3), 1, axis=0)

    @pytest.mark.parametrize('args', [(), (1,), (1, 2, None, 4)])
    def test_number_of_arguments(self, ufunc, args):
        with pytest.raises(TypeError, match='2 inputs and 1 output'):
            ufunc(*args)


class TestSignatures:

    @pytest.mark.parametrize('dtype', '?bBhHifd')
    def test_first_that_fits_is_taken(self, typed, dtype):
        x, y = operands(dtype)
        cpu = numba.vectorize(
            ['int32(int32, int32)', 'float32(float32, float32)',
             'float64(float64, float64)'])(polynomial)
        expected = cpu(x, y)
        actual = typed(cupy.asarray(x), cupy.asarray(y))
        assert actual.dtype == expected.dtype
        numpy.testing.assert_array_equal(actual.get(), expected)

    def test_none_fits(self, typed):
        with pytest.raises(TypeError, match=r'\(complex64, int\).*'
                           'ii->i, ff->f, dd->d'):
            typed(cupy.ones(3, 'F'), 1)
        with pytest.raises(TypeError, match='dtype=D.*ii->i, ff->f, dd->d'):
            typed(cupy.ones(3), 1, dtype='D')

    def test_types(self, typed):
        assert typed.types == ['ii->i', 'ff->f', 'dd->d']

    @pytest.mark.parametrize('signatures', [
        'float32(float64)', ['float32(float64)'],
        numba.float32(numba.float64), [numba.float32(numba.float64)],
        [(numba.float64,)], (numba.float64,)])
    def test_ways_to_write_them(self, signatures):
        @cupyx.numba.vectorize(signatures)
        def half(x):
            return x / 2

        assert half.types[0].startswith('d->')
        assert half(cupy.ones(3)).tolist() == [0.5] * 3

    def test_signature_twice(self):
        ufunc = cupyx.numba.vectorize(['f8(f8)', 'float64(float64)'])(
            lambda x: x + 1)
        assert ufunc.types == ['d->d']
        assert ufunc(cupy.zeros(2)).tolist() == [1, 1]

    def test_no_signature(self):
        with pytest.raises(TypeError, match='not a signature'):
            cupyx.numba.vectorize(['float32 float64'])(lambda x: x)

    def test_several_outputs(self):
        @cupyx.numba.vectorize('UniTuple(float64, 2)(float64, float64)')
        def both(x, y):
            return x + y, x - y

        x, y = operands('d')
        total, difference = both(cupy.asarray(x), cupy.asarray(y))
        numpy.testing.assert_array_equal(total.get(), x + y)
        numpy.testing.assert_array_equal(difference.get(), x - y)
        assert both.nout == 2 and both.nargs == 4
        out = cupy.empty((3, 4)), cupy.empty((3, 4))
        assert both(x, cupy.asarray(y), out=out)[1] is out[1]

    def test_several_outputs_need_signatures(self):
        ufunc = cupyx.numba.vectorize(lambda x: (x, x))
        with pytest.raises(TypeError, match='give its signatures'):
            ufunc(cupy.ones(3))


class TestFunctions:
    """What numba compiles for CUDA works inside."""

    @pytest.mark.parametrize('name', [
        'sin', 'cos', 'exp', 'log', 'sqrt', 'atan', 'tanh', 'floor', 'erf',
        'lgamma', 'log1p', 'expm1'])
    @pytest.mark.parametrize('dtype', 'fd')
    def test_math(self, name, dtype):
        function = getattr(math, name)

        @cupyx.numba.vectorize
        def ufunc(x):
            return function(x)

        x = numpy.linspace(0.1, 3, 50, dtype=dtype)
        expected = numpy.vectorize(function)(x.astype('d'))
        numpy.testing.assert_allclose(
            ufunc(cupy.asarray(x)).get(), expected,
            rtol=1e-12 if dtype == 'd' else 2e-5, atol=1e-6)

    @pytest.mark.parametrize('function', [
        cmath.sqrt, cmath.exp, cmath.phase, cmath.sin])
    def test_cmath(self, function):
        @cupyx.numba.vectorize
        def ufunc(x):
            return function(x)

        x = numpy.linspace(0.1 + 1j, 3 - 2j, 20)
        numpy.testing.assert_allclose(
            ufunc(cupy.asarray(x)).get(), numpy.vectorize(function)(x),
            rtol=1e-12)

    def test_numpy_ufuncs(self):
        ufunc = cupyx.numba.vectorize(lambda x: numpy.sin(x))
        x = numpy.linspace(0, 1, 9)
        numpy.testing.assert_allclose(
            ufunc(cupy.asarray(x)).get(), numpy.sin(x), rtol=1e-14)

    def test_functions_of_numba(self):
        cuda = importlib.import_module(compiler.module)

        @numba.njit
        def double(x):
            return x * 2

        @cuda.jit(device=True)
        def increment(x):
            return x + 1

        ufunc = cupyx.numba.vectorize(lambda x: increment(double(x)))
        assert ufunc(cupy.arange(3)).tolist() == [1, 3, 5]
        assert cupyx.numba.vectorize(double)(cupy.arange(3)).tolist() == [
            0, 2, 4]

    def test_closures(self):
        def scaled(factor):
            @cupyx.numba.vectorize
            def scale(x):
                return x * factor
            return scale

        assert scaled(2)(cupy.arange(3)).tolist() == [0, 2, 4]
        assert scaled(5)(cupy.arange(3)).tolist() == [0, 5, 10]

    def test_loops(self):
        @cupyx.numba.vectorize(['int64(int64)'])
        def collatz(n):
            steps = 0
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                steps += 1
            return steps

        assert collatz(cupy.arange(1, 8)).tolist() == [
            0, 1, 7, 2, 5, 8, 16]

    def test_errors_show_the_line(self):
        ufunc = cupyx.numba.vectorize(lambda x: x.nonsense + 1)
        with pytest.raises(compiler.part('core.errors').NumbaError,
                           match='nonsense') as info:
            ufunc(cupy.ones(3))
        assert 'test_vectorize.py' in str(info.value)

    def test_results_that_are_no_scalars(self):
        ufunc = cupyx.numba.vectorize(lambda x: None)
        with pytest.raises(TypeError, match='result of .* has the type none'):
            ufunc(cupy.ones(3))

    def test_functions_have_to_name_their_arguments(self):
        with pytest.raises(TypeError, match='name its arguments'):
            cupyx.numba.vectorize(lambda *args: 1)
        with pytest.raises(TypeError, match='Python function'):
            cupyx.numba.UFunc(3)


def test_attributes(ufunc, typed):
    assert isinstance(ufunc, cupy.ufunc)
    assert (ufunc.nin, ufunc.nout, ufunc.nargs) == (2, 1, 3)
    assert ufunc.__name__ == 'polynomial'
    assert ufunc.signature is None and ufunc.identity is None
    assert repr(ufunc) == "<ufunc 'polynomial' compiled by numba>"

    @cupyx.numba.vectorize(identity=1)
    def product(x, y):
        """Multiplies."""
        return x * y

    assert product.identity == 1
    assert product.__doc__ == 'Multiplies.'
    assert product.__module__ == __name__


def test_fastmath():
    exact = cupyx.numba.vectorize(lambda x: math.sin(x))
    fast = cupyx.numba.vectorize(fastmath=True)(lambda x: math.sin(x))
    x = cupy.linspace(0, 3, 100, dtype='f')
    numpy.testing.assert_allclose(fast(x).get(), exact(x).get(), atol=1e-5)


def test_fusion(ufunc, typed):
    for f in ufunc, typed:
        @cupy.fuse
        def fused(x, y, f=f):
            return f(x, y) + 1

        assert fused(cupy.arange(3.), cupy.ones(3)).tolist() == [2, 3, 6]


def test_threads():
    ufunc = cupyx.numba.vectorize(lambda x, y: x * 3 + y)
    results = [None] * 8

    def work(i):
        x = cupy.arange(10, dtype='fdiq'[i % 4])
        results[i] = (ufunc(x, x) == x * 4).all()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results)
    assert len(ufunc.types) == 4
