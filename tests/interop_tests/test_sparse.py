"""CuPy's ufuncs on the arrays of PyData's sparse.

They hold NumPy arrays and are computed with on the host: the library does
not support CuPy arrays as values or as the other operand.
"""
from __future__ import annotations

import numpy
import pytest
import sparse

import cupy

DENSE = numpy.array([[2., 0., 0.5], [0., 0., 0.], [0., 3., 0.]])

FUNCTIONS = {
    'sqrt': lambda xp, s: xp.sqrt(s),
    'cosine, whose zeros are ones': lambda xp, s: xp.cos(s),
    'add': lambda xp, s: xp.add(s, s),
    'scalar': lambda xp, s: xp.multiply(s, 2),
    'greater': lambda xp, s: xp.greater(s, 1),
    'matmul': lambda xp, s: xp.matmul(s, s),
    'reduce': lambda xp, s: xp.add.reduce(s),
    'maximum.reduce': lambda xp, s: xp.maximum.reduce(s, axis=1),
    'outer': lambda xp, s: xp.multiply.outer(s, s),
}


def check(call, array):
    actual, expected = call(cupy, array), call(numpy, array)
    assert type(actual) is type(expected)
    assert actual.dtype == expected.dtype
    assert actual.fill_value == expected.fill_value
    numpy.testing.assert_array_equal(actual.todense(), expected.todense())


@pytest.mark.parametrize('function', FUNCTIONS)
def test_functions(function):
    check(FUNCTIONS[function], sparse.COO.from_numpy(DENSE))


# Not all of them: sparse compiles for each format.
@pytest.mark.parametrize('function', ['sqrt', 'scalar'])
@pytest.mark.parametrize('kind', ['GCXS', 'DOK'])
def test_other_formats(function, kind):
    check(FUNCTIONS[function], getattr(sparse, kind).from_numpy(DENSE))


def test_out():
    out = sparse.COO.from_numpy(numpy.zeros_like(DENSE))
    assert cupy.sqrt(sparse.COO.from_numpy(DENSE), out=out) is out
    numpy.testing.assert_array_equal(out.todense(), numpy.sqrt(DENSE))


@pytest.mark.parametrize('xp', [numpy, cupy])
def test_out_alone_is_refused(xp):
    out = sparse.COO.from_numpy(DENSE)
    with pytest.raises(ValueError, match='None of the args is sparse'):
        xp.add(xp.asarray(DENSE), 1, out=out)


class TestCupyArrays:

    @pytest.mark.parametrize('call', [
        lambda xp, x, s: xp.multiply(s, x),
        lambda xp, x, s: xp.multiply(x, s),
        lambda xp, x, s: x * s,
    ], ids=['second', 'first', 'operator'])
    def test_operand(self, call):
        array = sparse.COO.from_numpy(DENSE)
        assert isinstance(call(numpy, DENSE, array), sparse.COO)
        with pytest.raises(TypeError, match='all returned NotImplemented'):
            call(cupy, cupy.asarray(DENSE), array)

    def test_values(self):
        places, ones = numpy.array([[0, 1], [0, 1]]), numpy.ones(2)
        assert sparse.COO(places, ones, shape=(2, 2)).nnz == 2
        with pytest.raises(TypeError, match='Implicit conversion to a NumPy'):
            sparse.COO(places, cupy.asarray(ones), shape=(2, 2))
