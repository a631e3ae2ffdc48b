"""cupy.random.Generator's distributions against SciPy's."""
from __future__ import annotations

import cupy
import numpy
import pytest
from scipy import stats

import goodness

SIZE = 100_000
BIT_GENERATORS = (cupy.random.XORWOW, cupy.random.MRG32k3a,
                  cupy.random.Philox4x3210)


@pytest.fixture(params=BIT_GENERATORS, ids=lambda kind: kind.__name__)
def bit_generator(request):
    return request.param


@pytest.fixture
def rng():
    return cupy.random.default_rng(2718)


def check(samples, distribution):
    samples = cupy.asnumpy(samples)
    assert samples.size == SIZE
    if samples.dtype.kind == 'f':
        goodness.assert_continuous(samples, distribution)
    else:
        goodness.assert_discrete(samples, distribution)


def test_bit_generators(bit_generator):
    def draw(seed):
        rng = cupy.random.Generator(bit_generator(seed))
        return cupy.asnumpy(rng.random(SIZE))

    check(draw(1), stats.uniform())
    numpy.testing.assert_array_equal(draw(1), draw(1))
    assert (draw(1) != draw(2)).all()


def test_bit_generators_differ():
    draws = {cupy.random.Generator(kind(3)).random(1).item()
             for kind in BIT_GENERATORS}
    assert len(draws) == len(BIT_GENERATORS)


def test_raw_bits(bit_generator):
    words = bit_generator(4).random_raw(SIZE).view('uint32')
    bits = (words[:, None] >> cupy.arange(32, dtype='uint32')) & 1
    shares = cupy.asnumpy(bits.mean(axis=0))
    assert (abs(shares - 0.5) < 4.5 * 0.5 / SIZE ** 0.5).all()


def test_small_state():
    rng = cupy.random.Generator(cupy.random.XORWOW(5, size=1))
    check(rng.standard_normal(SIZE), stats.norm())


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_uniform(rng, dtype):
    x = rng.random(SIZE, dtype=dtype)
    assert x.dtype == dtype
    assert 0 <= x.min().item() and x.max().item() < 1
    check(x, stats.uniform())


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_standard_normal(rng, dtype):
    x = rng.standard_normal(SIZE, dtype=dtype)
    check(x, stats.norm())
    goodness.assert_independent(cupy.asnumpy(x))


def test_calls_go_on_in_the_stream(rng):
    x = cupy.concatenate([rng.random(33_333) for _ in range(9)])
    assert numpy.unique(cupy.asnumpy(x)).size == x.size
    goodness.assert_independent(cupy.asnumpy(x))


def test_distributions_do_not_share_numbers(rng):
    x = cupy.asnumpy(rng.random(SIZE))
    y = cupy.asnumpy(rng.exponential(size=SIZE))
    z = cupy.asnumpy(rng.standard_gamma(1.0, SIZE))
    assert abs(numpy.corrcoef([x, y, z])[numpy.triu_indices(3, 1)]).max() \
        < 4.5 / SIZE ** 0.5


@pytest.mark.parametrize('high', [6, 1000, 2 ** 20])
def test_integers(rng, high):
    check(rng.integers(0, high, SIZE), stats.randint(0, high))


@pytest.mark.parametrize('high', [3 * 2 ** 30, 2 ** 33, 3 * 2 ** 61])
def test_large_integers(rng, high):
    x = rng.integers(0, high, SIZE)
    assert 0 <= x.min().item() and x.max().item() < high
    check(x / high, stats.uniform())


def test_exponential(rng):
    check(rng.exponential(2.0, SIZE), stats.expon(scale=2))


@pytest.mark.parametrize('shape', [0.01, 0.3, 0.999, 1, 1.5, 30, 1e5])
def test_gamma(rng, shape):
    check(rng.standard_gamma(shape, SIZE), stats.gamma(shape))


@pytest.mark.parametrize('a, b', [(0.5, 0.5), (0.5, 2), (1, 1), (3, 7),
                                  (100, 0.2), (0.3, 50)])
def test_beta(rng, a, b):
    check(rng.beta(a, b, SIZE), stats.beta(a, b))


def test_beta_of_tiny_parameters(rng):
    x = cupy.asnumpy(rng.beta(1e-310, 1e-310, SIZE))
    assert set(x) == {0, 1}
    assert abs(x.mean() - 0.5) < 0.01


@pytest.mark.parametrize('name, arguments, distribution', [
    ('chisquare', (3.0,), stats.chi2(3)),
    ('f', (5.0, 9.0), stats.f(5, 9)),
    ('power', (3.0,), stats.powerlaw(3)),
])
def test_derived(rng, name, arguments, distribution):
    check(getattr(rng, name)(*arguments, size=SIZE), distribution)


@pytest.mark.parametrize('p', [1e-3, 0.2, 0.5, 0.9])
def test_geometric(rng, p):
    check(rng.geometric(p, SIZE), stats.geom(p))


@pytest.mark.parametrize('p', [0.01, 0.3, 0.9, 0.999])
def test_logseries(rng, p):
    check(rng.logseries(p, SIZE), stats.logser(p))


@pytest.mark.parametrize('mean', [1e-3, 0.5, 3, 9.99, 10, 12, 1000, 1e6])
def test_poisson(rng, mean):
    check(rng.poisson(mean, SIZE), stats.poisson(mean))


@pytest.mark.parametrize('n, p', [
    (1, 0.5), (10, 0.3), (19, 0.5), (20, 0.5), (21, 0.5), (30, 0.9),
    (100, 0.1), (1000, 0.4), (100_000, 0.7), (10 ** 6, 1e-6)])
def test_binomial(rng, n, p):
    check(rng.binomial(n, p, SIZE), stats.binom(n, p))


@pytest.mark.parametrize('good, bad, sample', [
    (5, 5, 3), (20, 30, 10), (20, 30, 25), (30, 20, 25), (30, 20, 45),
    (500, 2000, 300), (2000, 500, 2300), (15, 1000, 500)])
def test_hypergeometric(rng, good, bad, sample):
    check(rng.hypergeometric(good, bad, sample, SIZE),
          stats.hypergeom(good + bad, good, sample))


def test_array_parameters(rng):
    means = cupy.array([[0.5], [20.0], [3000.0]])
    x = cupy.asnumpy(rng.poisson(means, (3, SIZE)))
    for row, mean in zip(x, (0.5, 20.0, 3000.0), strict=True):
        goodness.assert_discrete(row, stats.poisson(mean))


def test_strided_parameters(rng):
    ns = cupy.arange(0, 2000, dtype='int64')[::100][:, None]
    ps = cupy.linspace(0, 1, 11)[None, ::-1]
    x = rng.binomial(ns, ps, size=(20, 11))
    assert (x[:, -1] == 0).all().item()
    assert (x[:, 0] == ns[:, 0]).all().item()
    assert (x <= ns).all().item()


@pytest.mark.parametrize('name, arguments, expected', [
    ('poisson', (numpy.nan,), 0), ('poisson', (-1.0,), 0),
    ('poisson', (numpy.inf,), 2 ** 63 - 1),
    ('geometric', (1.0,), 1), ('geometric', (0.0,), 2 ** 63 - 1),
    ('logseries', (0.0,), 1), ('logseries', (numpy.nan,), 1),
    ('binomial', (10, -1.0), 0), ('binomial', (10, 2.0), 10),
    ('binomial', (10, numpy.nan), 0), ('binomial', (-5, 0.5), 0),
    ('hypergeometric', (0, 0, 0), 0), ('hypergeometric', (3, 5, 30), 3),
    ('standard_gamma', (0.0,), 0.0), ('standard_gamma', (-1.0,), numpy.nan),
    ('beta', (0.0, 1.0), numpy.nan),
])
def test_parameters_at_and_beyond_the_limits(rng, name, arguments, expected):
    x = cupy.asnumpy(getattr(rng, name)(*arguments, size=5))
    numpy.testing.assert_array_equal(x, expected)


def test_threads_do_not_matter(set_num_threads):
    def draw(threads):
        set_num_threads(threads)
        rng = cupy.random.default_rng(1)
        return [cupy.asnumpy(x) for x in (
            rng.standard_normal(100_001), rng.standard_gamma(2.0, 100_001))]

    numpy.testing.assert_array_equal(draw(1), draw(3))
