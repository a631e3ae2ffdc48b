"""cupy.random's functions on the cuRAND host API."""
from __future__ import annotations

import cupy
from cupy_backends.cuda.libs import curand
import numpy
import pytest
from scipy import stats

import goodness

SIZE = 200_000
KINDS = (curand.CURAND_RNG_PSEUDO_DEFAULT, curand.CURAND_RNG_PSEUDO_XORWOW,
         curand.CURAND_RNG_PSEUDO_MRG32K3A, curand.CURAND_RNG_PSEUDO_MTGP32,
         curand.CURAND_RNG_PSEUDO_MT19937,
         curand.CURAND_RNG_PSEUDO_PHILOX4_32_10)


@pytest.fixture
def generator():
    handle = curand.createGenerator(curand.CURAND_RNG_PSEUDO_DEFAULT)
    curand.setPseudoRandomGeneratorSeed(handle, 42)
    yield handle
    curand.destroyGenerator(handle)


def words(generator, count):
    out = cupy.empty(count, 'uint32')
    curand.generate(generator, out.data.ptr, count)
    return cupy.asnumpy(out)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_uniform(dtype):
    x = cupy.asnumpy(cupy.random.RandomState(1).random_sample(SIZE, dtype))
    assert x.dtype == dtype
    assert x.min() >= 0 and x.max() < 1
    goodness.assert_continuous(x, stats.uniform())
    goodness.assert_independent(x)


@pytest.mark.parametrize('name', ['generateUniform',
                                  'generateUniformDouble'])
def test_interval_is_that_of_curand(generator, name):
    dtype = 'float64' if name.endswith('Double') else 'float32'
    x = cupy.empty(4_000_000, dtype)
    getattr(curand, name)(generator, x.data.ptr, x.size)
    assert (x > 0).all().item() and (x <= 1).all().item()


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_normal(dtype):
    x = cupy.random.RandomState(2).normal(3, 2, SIZE, dtype)
    assert x.dtype == dtype
    goodness.assert_continuous(cupy.asnumpy(x), stats.norm(3, 2))
    goodness.assert_independent(cupy.asnumpy(x))


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_tails_of_normal(dtype):
    x = cupy.random.RandomState(3).normal(0, 1, 4_000_000, dtype)
    beyond = int((abs(x) > 4).sum())
    expected = 2 * stats.norm.sf(4) * x.size
    assert abs(beyond - expected) < 5 * expected ** 0.5


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_lognormal(dtype):
    x = cupy.random.RandomState(4).lognormal(0.5, 0.7, SIZE, dtype)
    goodness.assert_continuous(cupy.asnumpy(x),
                               stats.lognorm(0.7, scale=numpy.exp(0.5)))


@pytest.mark.parametrize('high', [7, 1000])
def test_integers(high):
    x = cupy.random.RandomState(5).randint(0, high, SIZE, 'int64')
    goodness.assert_discrete(cupy.asnumpy(x), stats.randint(0, high))


def test_large_integers():
    x = cupy.random.RandomState(5).randint(0, 3 * 2 ** 40, SIZE, 'int64')
    goodness.assert_continuous(cupy.asnumpy(x / (3 * 2 ** 40)),
                               stats.uniform())


@pytest.mark.parametrize('mean', [1e-3, 0.5, 3, 9.99, 10, 12, 1000, 1e6])
def test_poisson(generator, mean):
    out = cupy.empty(SIZE, 'uint32')
    curand.generatePoisson(generator, out.data.ptr, SIZE, mean)
    goodness.assert_discrete(cupy.asnumpy(out).astype('int64'),
                             stats.poisson(mean))


@pytest.mark.parametrize('size', [1, 3, 10_001])
def test_odd_sizes(size):
    state = cupy.random.RandomState(6)
    assert state.normal(size=size).shape == (size,)
    assert state.random_sample(size).shape == (size,)


@pytest.mark.parametrize('kind', KINDS)
def test_same_seed_same_numbers(kind):
    def draw(seed):
        state = cupy.random.RandomState(seed, method=kind)
        return cupy.asnumpy(state.normal(size=1000)).tolist()

    assert draw(7) == draw(7)
    assert draw(7) != draw(8)


def test_kinds_differ():
    draws = {
        cupy.random.RandomState(7, method=kind).random_sample(1).item()
        for kind in KINDS}
    assert len(draws) == len(KINDS) - 1  # the default is XORWOW


def test_words_do_not_depend_on_the_calls(generator):
    whole = words(generator, 1000)
    curand.setPseudoRandomGeneratorSeed(generator, 42)
    parts = [words(generator, n) for n in (1, 2, 300, 697)]
    numpy.testing.assert_array_equal(numpy.concatenate(parts), whole)


def test_offset_skips(generator):
    whole = words(generator, 1000)
    curand.setGeneratorOffset(generator, 123)
    numpy.testing.assert_array_equal(words(generator, 877), whole[123:])


def test_threads_do_not_matter(generator, set_num_threads):
    def draw(threads):
        set_num_threads(threads)
        curand.setPseudoRandomGeneratorSeed(generator, 42)
        out = cupy.empty(300_000)
        curand.generateNormalDouble(generator, out.data.ptr, out.size, 0, 1)
        return cupy.asnumpy(out)

    numpy.testing.assert_array_equal(draw(1), draw(3))


@pytest.mark.parametrize('ordering', [100, 101, 102])
def test_orderings(generator, ordering):
    before = words(generator, 10)
    curand.setPseudoRandomGeneratorSeed(generator, 42)
    curand.setGeneratorOrdering(generator, ordering)
    numpy.testing.assert_array_equal(words(generator, 10), before)


def fails_with(status, function, *arguments):
    with pytest.raises(curand.CURANDError) as error:
        function(*arguments)
    assert str(error.value) == f'CURAND_STATUS_{status}'


def test_errors(generator):
    fails_with('OUT_OF_RANGE', curand.setGeneratorOrdering, generator, 201)
    fails_with('TYPE_ERROR', curand.createGenerator, 200)  # quasi-random
    fails_with('TYPE_ERROR', curand.createGenerator, 12345)
    out = cupy.empty(10, 'uint64')
    fails_with('TYPE_ERROR', curand.generateLongLong, generator,
               out.data.ptr, 10)
    fails_with('OUT_OF_RANGE', curand.generatePoisson, generator,
               out.data.ptr, 10, -1.0)
    fails_with('NOT_INITIALIZED', curand.setPseudoRandomGeneratorSeed, 0, 1)


def test_destroyed_generator():
    handle = curand.createGenerator(curand.CURAND_RNG_PSEUDO_DEFAULT)
    curand.destroyGenerator(handle)
    fails_with('NOT_INITIALIZED', curand.destroyGenerator, handle)
    fails_with('NOT_INITIALIZED', curand.setGeneratorOffset, handle, 0)


def test_version():
    assert curand.getVersion() >= 10000
