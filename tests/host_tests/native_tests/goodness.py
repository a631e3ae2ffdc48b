"""Do samples follow a distribution?  Seeds are fixed, so are verdicts."""
from __future__ import annotations

import numpy
from scipy import stats

# A right sampler fails one seed in ten thousand.
_ALPHA = 1e-4
_LEAST_EXPECTED = 10


def assert_continuous(samples, distribution):
    """Kolmogorov-Smirnov test of float samples."""
    samples = numpy.asarray(samples, 'float64').ravel()
    assert stats.kstest(samples, distribution.cdf).pvalue > _ALPHA


def _edges(distribution, count):
    """Upper ends of bins, each expected to hold some of the samples."""
    share = max(_LEAST_EXPECTED / count, 0.01)
    quantiles = distribution.ppf(numpy.arange(share, 1, share))
    edges = numpy.unique(quantiles)
    inside = ((distribution.cdf(edges) > share / 2)
              & (distribution.sf(edges) > share / 2))
    return edges[inside]


def assert_discrete(samples, distribution):
    """Chi-square test of integer samples, and a test of their mean."""
    samples = numpy.asarray(samples).ravel()
    count = samples.size
    edges = _edges(distribution, count)
    cumulative = numpy.concatenate([[0], distribution.cdf(edges), [1]])
    expected = numpy.diff(cumulative) * count
    place = numpy.searchsorted(edges, samples, 'left')
    observed = numpy.bincount(place, minlength=expected.size)
    if expected.size > 1:
        assert stats.chisquare(observed, expected).pvalue > _ALPHA
    error = distribution.std() / count ** 0.5
    assert abs(samples.mean() - distribution.mean()) <= 4 * error


def assert_independent(samples):
    """Neighbours, near and a little farther, are not correlated."""
    samples = numpy.asarray(samples, 'float64').ravel()
    limit = 4 / samples.size ** 0.5
    for lag in (1, 2, 3, 4, 8, 16, 1024):
        pair = numpy.corrcoef(samples[:-lag], samples[lag:])
        assert abs(pair[0, 1]) < limit, lag
