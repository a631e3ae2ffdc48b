"""CuPy's ufuncs on Vector's arrays of Awkward, against NumPy's."""
from __future__ import annotations

import awkward as ak
import numpy
import pytest
import vector

import cupy


@pytest.fixture(autouse=True, scope='module')
def registered():
    vector.register_awkward()


CARTESIAN = 'px', 'py', 'pz', 'E'
POLAR = 'pt', 'phi', 'eta', 'mass'


def momenta(seed, names):
    """Two, no and four particles in three events."""
    random = numpy.random.default_rng(seed)
    fields = {n: random.uniform(0.5, 2, 6) for n in names}
    if 'E' in fields:
        fields['E'] += 3.5  # slower than light
    particles = ak.zip(fields, with_name='Momentum4D')
    return ak.unflatten(particles, [2, 0, 4])


FUNCTIONS = {
    'add': lambda xp, a, b: xp.add(a, b),
    'subtract': lambda xp, a, b: xp.subtract(a, b),
    'negative': lambda xp, a, b: xp.negative(a),
    'absolute': lambda xp, a, b: xp.abs(a),
    'square': lambda xp, a, b: xp.square(a),
    'sqrt': lambda xp, a, b: xp.sqrt(a),
    'power': lambda xp, a, b: xp.power(a, 2),
    'scaled': lambda xp, a, b: xp.multiply(2, a),
    'scaled by event': lambda xp, a, b: xp.multiply(
        xp.asarray([1., 2., 3.]), a),
    'divided': lambda xp, a, b: xp.true_divide(a, 2),
    'equal': lambda xp, a, b: xp.equal(a, b),
    'not equal': lambda xp, a, b: xp.not_equal(a, b),
    'mass of pairs': lambda xp, a, b: xp.add(a, b).mass,
    'mass by operator': lambda xp, a, b: (a + b).mass,
    'distance': lambda xp, a, b: xp.abs(a.deltaR(b)),
    'boost': lambda xp, a, b: a.boostCM_of(b).pt,
}


@pytest.mark.parametrize('names', [CARTESIAN, POLAR], ids=['xyz', 'polar'])
@pytest.mark.parametrize('function', FUNCTIONS)
def test_functions(function, names):
    call, operands = FUNCTIONS[function], (momenta(1, names),
                                           momenta(2, names))
    expected = call(numpy, *operands)
    actual = call(cupy, *[ak.to_backend(x, 'cuda') for x in operands])
    assert ak.backend(actual) == 'cuda'
    assert type(actual) is type(expected)
    assert ak.almost_equal(ak.to_backend(actual, 'cpu'), expected,
                           rtol=1e-12, atol=1e-13)


def test_mass_of_a_decay():
    """Two back-to-back photons of 62.5 GeV make 125 GeV."""
    values = {'px': [62.5], 'py': [0.], 'pz': [0.], 'E': [62.5]}
    photon = ak.to_backend(ak.zip(values, with_name='Momentum4D'), 'cuda')
    other = ak.to_backend(
        ak.zip(values | {'px': [-62.5]}, with_name='Momentum4D'), 'cuda')
    assert cupy.add(photon, other).mass.to_list() == [125.0]


@pytest.mark.parametrize('xp, backend', [(numpy, 'cpu'), (cupy, 'cuda')])
def test_vector_has_no_sine(xp, backend):
    with pytest.raises(TypeError, match='no numpy.sin overloads'):
        xp.sin(ak.to_backend(momenta(1, CARTESIAN), backend))


class TestHostVectors:
    """Vector's own arrays hold NumPy arrays; it computes with them."""

    def test_vector_objects(self):
        a, b = vector.obj(x=3, y=4), vector.obj(x=1, y=1)
        assert cupy.add(a, b) == numpy.add(a, b) == vector.obj(x=4, y=5)
        assert cupy.abs(a) == numpy.abs(a) == 5

    def test_numpy_vectors(self):
        a = vector.array({'x': [3., 6.], 'y': [4., 8.]})
        assert isinstance(cupy.add(a, a), vector.VectorNumpy2D)
        assert (cupy.add(a, a) == numpy.add(a, a)).all()
        numpy.testing.assert_array_equal(cupy.abs(a), [5., 10.])

    def test_cupy_arrays_are_no_coordinates(self):
        x = vector.array({'x': [3., 6.], 'y': [4., 8.]})
        assert numpy.multiply(x, numpy.array([1., 2.])).x.tolist() == [3, 12]
        with pytest.raises(TypeError, match='Unsupported type'):
            cupy.multiply(x, cupy.array([1., 2.]))
