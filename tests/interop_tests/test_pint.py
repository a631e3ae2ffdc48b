"""CuPy's ufuncs on quantities of pint that hold CuPy arrays."""
from __future__ import annotations

import numpy
import pint
import pytest

import cupy

VALUES = numpy.linspace(1., 2., 6).reshape(2, 3)
BOTH = pytest.mark.parametrize('xp', [numpy, cupy])


@pytest.fixture(scope='module')
def units():
    return pint.UnitRegistry()


def assert_same(actual, expected):
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert_same(a, e)
        return
    if hasattr(expected, 'units'):
        assert type(actual) is type(expected)
        assert actual.units == expected.units
        actual, expected = actual.magnitude, expected.magnitude
    assert isinstance(actual, cupy.ndarray)
    cupy.testing.assert_allclose(actual, expected, rtol=1e-14)
    assert actual.dtype == expected.dtype


FUNCTIONS = {
    'add': lambda xp, q, u: xp.add(q, q),
    'add centimetres': lambda xp, q, u: xp.add(q, (q * 2).to('cm')),
    'sqrt': lambda xp, q, u: xp.sqrt(q),
    'cbrt': lambda xp, q, u: xp.cbrt(q),
    'power': lambda xp, q, u: xp.power(q, 2),
    'multiply': lambda xp, q, u: xp.multiply(q, q),
    'divide': lambda xp, q, u: xp.divide(q, u.Quantity(2., 's')),
    'reciprocal': lambda xp, q, u: xp.reciprocal(q),
    'hypot': lambda xp, q, u: xp.hypot(q, q),
    'less': lambda xp, q, u: xp.less(q, u.Quantity(150., 'cm')),
    'isfinite': lambda xp, q, u: xp.isfinite(q),
    'exp': lambda xp, q, u: xp.exp(q / u.Quantity(100., 'cm')),
    'sin of degrees': lambda xp, q, u: xp.sin(q.magnitude * u.degree),
    'arctan2': lambda xp, q, u: xp.arctan2(q, q),
    'modf': lambda xp, q, u: xp.modf(q / u.metre),
    'array first': lambda xp, q, u: xp.multiply(xp.asarray(VALUES), q),
    'array second': lambda xp, q, u: xp.multiply(q, xp.asarray(VALUES)),
    'operator': lambda xp, q, u: xp.asarray(VALUES) * q,
    'sum': lambda xp, q, u: xp.sqrt(q).sum(axis=0),
}


@pytest.mark.parametrize('function', FUNCTIONS)
def test_functions(function, units):
    call = FUNCTIONS[function]
    expected, actual = (
        call(xp, units.Quantity(xp.array(VALUES), 'm'), units)
        for xp in (numpy, cupy))
    assert_same(actual, expected)


class TestRefusals:
    """What pint supports of no library."""

    @BOTH
    def test_units_that_do_not_fit(self, xp, units):
        q = units.Quantity(xp.array(VALUES), 'm')
        with pytest.raises(pint.DimensionalityError):
            xp.add(q, units.Quantity(1., 's'))
        with pytest.raises(pint.DimensionalityError):
            xp.sin(q)

    @BOTH
    @pytest.mark.parametrize('name', ['logical_and', 'divmod', 'gcd'])
    def test_ufuncs_without_a_rule_for_units(self, xp, name, units):
        q = units.Quantity(xp.array(VALUES), 'm')
        with pytest.raises(TypeError, match='all returned NotImplemented'):
            getattr(xp, name)(q, q)

    @BOTH
    def test_methods(self, xp, units):
        q = units.Quantity(xp.array(VALUES), 'm')
        with pytest.raises(TypeError, match='all returned NotImplemented'):
            xp.add.reduce(q)
        with pytest.raises(TypeError, match='all returned NotImplemented'):
            xp.multiply.outer(q, q)

    @BOTH
    def test_out(self, xp, units):
        """pint passes it on as it is: the call comes back to it."""
        q = units.Quantity(xp.array(VALUES), 'm')
        with pytest.raises(RecursionError):
            xp.add(q, q, out=q)
