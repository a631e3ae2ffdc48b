"""CuPy's ufuncs on the arrays of unyt, a subclass of NumPy's.

unyt computes on the host, with NumPy arrays: it does not support CuPy
arrays as values or as the other operand.
"""
from __future__ import annotations

import numpy
import pytest
import unyt

import cupy

VALUES = numpy.linspace(1., 2., 6).reshape(2, 3)


FUNCTIONS = {
    'add': lambda xp, q: xp.add(q, unyt.unyt_array(VALUES, 'cm')),
    'sqrt': lambda xp, q: xp.sqrt(q),
    'multiply': lambda xp, q: xp.multiply(q, unyt.unyt_quantity(2., 's')),
    'less': lambda xp, q: xp.less(q, unyt.unyt_quantity(150., 'cm')),
    'modf': lambda xp, q: xp.modf(q / unyt.m),
    'reduce': lambda xp, q: xp.add.reduce(q),
    'accumulate': lambda xp, q: xp.add.accumulate(q, axis=1),
    'outer': lambda xp, q: xp.multiply.outer(q, q),
    'scalar': lambda xp, q: xp.sqrt(unyt.unyt_quantity(4., 'm**2')),
}


@pytest.mark.parametrize('function', FUNCTIONS)
def test_functions(function):
    call = FUNCTIONS[function]
    quantity = unyt.unyt_array(VALUES, 'm')
    results = call(cupy, quantity), call(numpy, quantity)
    actual, expected = (
        r if isinstance(r, tuple) else (r,) for r in results)
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        assert type(a) is type(e)
        assert getattr(a, 'units', None) == getattr(e, 'units', None)
        numpy.testing.assert_array_equal(a, e)


def test_out():
    quantity = unyt.unyt_array(VALUES, 'm')
    out = unyt.unyt_array(numpy.zeros_like(VALUES), 's')
    result = cupy.sqrt(quantity, out=out)
    assert numpy.shares_memory(result, out)
    assert result.units == out.units == unyt.m ** 0.5
    numpy.testing.assert_array_equal(out.value, numpy.sqrt(VALUES))


def test_units_that_do_not_fit():
    quantity = unyt.unyt_array(VALUES, 'm')
    for xp in numpy, cupy:
        with pytest.raises(unyt.exceptions.UnitOperationError):
            xp.add(quantity, unyt.unyt_quantity(1., 's'))


class TestCupyArrays:
    """unyt converts each value by ``numpy.asarray``."""

    # NumPy warns of the signature of cupy.ndarray.__array__.
    @pytest.mark.filterwarnings('ignore:__array__ implementation')
    @pytest.mark.parametrize('call', [
        lambda xp, x, q: xp.multiply(q, x),
        lambda xp, x, q: xp.multiply(x, q),
        lambda xp, x, q: x * q,
        lambda xp, x, q: q * x,
        lambda xp, x, q: unyt.m * x,
    ], ids=['second', 'first', 'operator', 'reflected', 'unit'])
    def test_operand(self, call):
        quantity = unyt.unyt_array(VALUES, 'm')
        expected = call(numpy, VALUES, quantity)
        assert isinstance(expected, unyt.unyt_array)
        with pytest.raises(TypeError, match='Implicit conversion to a'):
            call(cupy, cupy.asarray(VALUES), quantity)

    def test_unit_to_the_right(self):
        assert isinstance(VALUES * unyt.m, unyt.unyt_array)
        # A unit has no __array_ufunc__, and a priority below CuPy's.
        with pytest.raises(TypeError):
            cupy.asarray(VALUES) * unyt.m

    def test_value(self):
        assert unyt.unyt_array(VALUES, 'm').units == unyt.m
        with pytest.raises(ValueError, match='truth value'):
            unyt.unyt_array(cupy.asarray(VALUES), 'm')
