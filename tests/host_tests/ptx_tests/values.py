"""Operands for the tests of the op table: edge values and random ones."""
from __future__ import annotations

import itertools
from typing import Any

import numpy

_RANDOM = 300


def _rng() -> numpy.random.Generator:
    return numpy.random.default_rng(20)


def integers(dtype: str, count: int = _RANDOM) -> Any:
    """Returns edge values and random values of an integer dtype."""
    info = numpy.iinfo(dtype)
    edges = [0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 127, 128, 255,
             info.max, info.max - 1, info.min, info.min + 1,
             info.max // 2, info.max // 3]
    edges += [-e for e in edges[1:14] if info.min < 0]
    edges = [e for e in edges if info.min <= e <= info.max]
    full = _rng().integers(info.min, info.max, count, dtype, endpoint=True)
    small = full >> _rng().integers(0, info.bits, count).astype(dtype)
    return numpy.concatenate([numpy.array(edges, dtype), full, small])


def floats(dtype: str, count: int = _RANDOM) -> Any:
    """Returns signed zeros, subnormals, infinities, NaN, halfway cases, and
    random values: bit patterns of every exponent and moderate ones."""
    info = numpy.finfo(dtype)
    bits = _rng().integers(0, 256, (count, info.bits // 8), 'u1')
    moderate = _rng().normal(size=count) * 2.0 ** _rng().integers(
        -12, 12, count)
    edges = [0, 1, 1.5, 2, 3, 0.5, 1 + info.eps, 1 - info.epsneg, 2.5,
             info.max, info.tiny, info.tiny * 1.5, info.smallest_subnormal,
             info.smallest_subnormal * 3, info.tiny - info.smallest_subnormal,
             1 / 3, numpy.inf, numpy.nan, 127.5, 255.5, 2**15 - 0.5]
    found = numpy.concatenate([
        numpy.array(edges), -numpy.array(edges), moderate]).astype(dtype)
    patterns = bits.view(dtype).ravel()
    # Quiet: NumPy warns of signalling NaNs.
    patterns[numpy.isnan(patterns)] = numpy.nan
    return numpy.concatenate([found, patterns])


def product(*arrays: Any, edges: int = 34) -> list[Any]:
    """Returns all combinations of the first values of the arrays, followed
    by random combinations of all of them."""
    firsts = [a[:edges] for a in arrays]
    grid = list(itertools.product(*(range(len(f)) for f in firsts)))
    columns = zip(*grid, strict=True)
    picked = [f[list(c)] for f, c in zip(firsts, columns, strict=True)]
    size = max(len(a) for a in arrays)
    return [numpy.concatenate([p, _rng_k(k).choice(a, size)])
            for k, (p, a) in enumerate(zip(picked, arrays, strict=True))]


def _rng_k(k: int) -> numpy.random.Generator:
    return numpy.random.default_rng(100 + k)
