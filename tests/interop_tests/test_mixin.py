"""A class by NumPy's own mixin that wraps a CuPy array."""
from __future__ import annotations

import operator

import numpy
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

import cupy


class Wrapped(NDArrayOperatorsMixin):

    def __init__(self, value):
        self.value = value

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
        if out:
            kwargs['out'] = tuple(_unwrap(x) for x in out)
        result = getattr(ufunc, method)(*map(_unwrap, inputs), **kwargs)
        if isinstance(result, tuple):
            return tuple(map(Wrapped, result))
        return None if result is None else Wrapped(result)


def _unwrap(x):
    return x.value if isinstance(x, Wrapped) else x


VALUES = numpy.linspace(1., 2., 6).reshape(2, 3)


def assert_same(actual, expected):
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert_same(a, e)
        return
    assert type(actual) is type(expected) is Wrapped
    assert isinstance(actual.value, cupy.ndarray)
    cupy.testing.assert_allclose(actual.value, expected.value, rtol=1e-14)
    assert actual.value.dtype == expected.value.dtype


def check(call):
    expected, actual = (
        call(xp, Wrapped(xp.array(VALUES))) for xp in (numpy, cupy))
    assert_same(actual, expected)


CALLS = {
    'sqrt': lambda xp, w: xp.sqrt(w),
    'add': lambda xp, w: xp.add(w, w),
    'array first': lambda xp, w: xp.subtract(xp.asarray(VALUES), w),
    'array second': lambda xp, w: xp.subtract(w, xp.asarray(VALUES)),
    'dtype': lambda xp, w: xp.add(w, 1, dtype='float32'),
    'modf': lambda xp, w: xp.modf(w),
    'divmod': lambda xp, w: xp.divmod(w, 0.25),
    'outer': lambda xp, w: xp.multiply.outer(w, w),
    'reduce': lambda xp, w: xp.add.reduce(w, axis=1, keepdims=True),
    'accumulate': lambda xp, w: xp.multiply.accumulate(w),
    'reduceat': lambda xp, w: xp.add.reduceat(w, [0, 1]),
}


@pytest.mark.parametrize('call', CALLS)
def test_calls(call):
    check(CALLS[call])


BINARY = ['add', 'sub', 'mul', 'truediv', 'floordiv', 'mod', 'pow', 'lt',
          'le', 'eq', 'ne', 'gt', 'ge']


@pytest.mark.parametrize('name', BINARY)
def test_binary_operators(name):
    call = getattr(operator, name)
    check(lambda xp, w: call(w, xp.asarray(VALUES)))
    check(lambda xp, w: call(xp.asarray(VALUES), w))
    check(lambda xp, w: call(2, w))


@pytest.mark.parametrize('name', ['neg', 'pos', 'abs'])
def test_unary_operators(name):
    call = getattr(operator, name)
    check(lambda xp, w: call(w))


@pytest.mark.parametrize('name', ['iadd', 'isub', 'imul', 'itruediv'])
def test_in_place_operators(name):
    call = getattr(operator, name)
    check(lambda xp, w: call(w, xp.asarray(VALUES)))

    def array_first(xp, w):
        # The array is not changed in place: the wrapper takes over.
        array = xp.array(VALUES)
        return call(array, w)

    check(array_first)


def test_out():
    for xp in numpy, cupy:
        w = Wrapped(xp.array(VALUES))
        held, result = w.value, xp.sqrt(w, out=w)
        assert result.value is held
        cupy.testing.assert_allclose(held, numpy.sqrt(VALUES), rtol=1e-14)


def test_where():
    mask = VALUES > 1.5

    def call(xp, w):
        out = Wrapped(xp.zeros_like(w.value))
        return xp.sqrt(w, out=out, where=xp.asarray(mask))

    check(call)


def test_at():
    def call(xp, w):
        assert xp.add.at(w, xp.array([0, 0, 1]), 1.) is None
        return w

    check(call)


def test_at_on_an_array():
    for xp in numpy, cupy:
        array = xp.zeros(2)
        xp.add.at(array, xp.array([0, 0, 1]), Wrapped(xp.ones(3)))
        cupy.testing.assert_array_equal(array, [2., 1.])
