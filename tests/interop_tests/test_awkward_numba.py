"""numba's CUDA ufuncs on Awkward Arrays, beside its CPU ufuncs."""
from __future__ import annotations

import math

import awkward as ak
import numba
import numpy
import pytest
import vector

import cupy
import cupyx.numba

ak.numba.register_and_check()


def twice_and(x, y):
    return 2 * x + y


def length(x, y):
    return math.sqrt(x * x + y * y)


LISTS = [[1.5, -2.], [], [3.], [4., 5., 6.25]]
LAYOUTS = {
    'numpy': lambda: ak.Array(numpy.arange(6.)),
    'regular': lambda: ak.from_numpy(numpy.arange(6.).reshape(2, 3),
                                     regulararray=True),
    'lists': lambda: ak.Array(LISTS),
    'nested': lambda: ak.Array([LISTS, [], LISTS[:2]]),
    'empty': lambda: ak.Array(LISTS)[:0],
    'integers': lambda: ak.Array([[1, 2], [], [3]]),
    'bools': lambda: ak.Array([[True, False], [], [True]]),
    # Awkward brings these into shape by cuda.compute.
    'option': lambda: ak.Array([[1., None], [], None, [2.]]),
    'indexed': lambda: ak.Array(LISTS)[[3, 0, 2]],
    'sliced': lambda: ak.Array(LISTS)[::-1],
}


def pair(function, **options):
    """The function for the CPU and for CuPy, by numba's decorators."""
    return (numba.vectorize(**options)(function),
            numba.vectorize(target='cuda', **options)(function))


def same(cpu, cuda):
    assert ak.backend(cuda) == 'cuda'
    assert cuda.type == cpu.type
    assert ak.to_backend(cuda, 'cpu').to_list() == cpu.to_list()


class TestLayouts:

    @pytest.fixture
    def ufuncs(self):
        # New ones: numba's takes a loop that it has, if it can be cast to.
        return pair(twice_and)

    @pytest.mark.parametrize('layout', LAYOUTS)
    def test_two_arrays(self, ufuncs, layout):
        array = LAYOUTS[layout]()
        device = ak.to_backend(array, 'cuda')
        cpu, cuda = ufuncs
        same(cpu(array, array), cuda(device, device))

    @pytest.mark.parametrize('layout', LAYOUTS)
    def test_scalar(self, ufuncs, layout):
        array = LAYOUTS[layout]()
        cpu, cuda = ufuncs
        device = ak.to_backend(array, 'cuda')
        same(cpu(array, 3), cuda(device, 3))
        same(cpu(2.5, array), cuda(2.5, device))

    def test_broadcast_into_lists(self, ufuncs):
        cpu, cuda = ufuncs
        array, flat = ak.Array(LISTS), numpy.arange(4.)
        device = ak.to_backend(array, 'cuda')
        same(cpu(array, flat), cuda(device, cupy.asarray(flat)))


@pytest.mark.parametrize('options', [
    {}, {'ftylist_or_function': [numba.float32(numba.float32),
                                 numba.float64(numba.float64)]}])
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_square(options, dtype):
    array = ak.values_astype(ak.Array(LISTS), dtype)
    cpu, cuda = pair(lambda x: x * x, **options)
    found = cuda(ak.to_backend(array, 'cuda'))
    same(cpu(array), found)
    assert str(found).startswith('[[2.25, 4')


@pytest.mark.parametrize('options', [
    {}, {'ftylist_or_function': ['boolean(float64, float64)']}])
def test_result_of_bools(options):
    array = ak.Array(LISTS)
    cpu, cuda = pair(lambda x, y: x > y, **options)
    device = ak.to_backend(array, 'cuda')
    same(cpu(array, 2), cuda(device, 2))
    same(array[cpu(array, 2)], device[cuda(device, 2)])


@pytest.mark.parametrize('signatures', [
    ['float64(float64, float64)'],
    [numba.float32(numba.float32, numba.float32),
     numba.float64(numba.float64, numba.float64)]])
def test_with_signatures(signatures):
    array = ak.Array(LISTS)
    cpu, cuda = (numba.vectorize(signatures)(length),
                 numba.vectorize(signatures, target='cuda')(length))
    device = ak.to_backend(array, 'cuda')
    found = ak.to_backend(cuda(device, device), 'cpu')
    assert ak.almost_equal(found, cpu(array, array), rtol=1e-14)


def ragged(n):
    counts = cupy.random.poisson(lam=3, size=n)
    return counts, ak.unflatten(
        cupy.random.normal(size=int(counts.sum())), counts)


# The size at which numba-cuda#37 was reported.
@pytest.mark.slow
def test_five_million_lists():
    _, array = ragged(5_000_000)
    cpu, cuda = pair(twice_and)
    on_host = ak.to_backend(array, 'cpu')
    found = cuda(array, array)
    assert ak.backend(found) == 'cuda'
    assert ak.array_equal(ak.to_backend(found, 'cpu'), cpu(on_host, on_host))


def test_large_lists_as_by_hand():
    counts, array = ragged(100_000)
    ufunc = cupyx.numba.vectorize(twice_and)
    expected = ak.unflatten(
        ufunc(ak.flatten(array), ak.flatten(array)), counts)
    assert ak.array_equal(ufunc(array, array), expected)


def test_behaviors_receive_the_ufunc():
    ufunc = cupyx.numba.vectorize(twice_and)
    behavior = {(ufunc, 'point', 'point'): lambda a, b: ak.zip(
        {'x': ufunc(a.x, b.x)}, with_name='point')}
    points = ak.to_backend(ak.zip(
        {'x': [[1., 2.], [3.]]}, with_name='point', behavior=behavior),
        'cuda')
    assert ufunc(points, points).x.to_list() == [[3., 6.], [9.]]


def test_fields_of_vectors():
    vector.register_awkward()
    muons = ak.zip({'pt': [[10., 20.], [30.]], 'eta': [[0.1, 0.2], [0.3]],
                    'phi': [[1., 2.], [3.]], 'mass': [[.1, .1], [.1]]},
                   with_name='Momentum4D')
    cpu, cuda = pair(length)
    device = ak.to_backend(muons, 'cuda')
    found = ak.to_backend(cuda(device.px, device.py), 'cpu')
    assert ak.almost_equal(found, cpu(muons.px, muons.py))
    assert ak.almost_equal(found, muons.pt)


def test_gufunc_on_regular_arrays():
    @cupyx.numba.guvectorize('void(float64[:], float64[:])', '(n)->()')
    def total(x, result):
        result[0] = x.sum()

    array = ak.to_backend(ak.from_numpy(
        numpy.arange(6.).reshape(2, 3), regulararray=True), 'cuda')
    # Awkward has no generalized ufuncs: it says so, for NumPy's, too.
    with pytest.raises(Exception) as ours:
        total(array)
    with pytest.raises(Exception) as numbas:
        numba.guvectorize(['void(float64[:], float64[:])'], '(n)->()')(
            lambda x, result: None)(ak.to_backend(array, 'cpu'))
    assert type(ours.value) is type(numbas.value)


def test_methods_are_awkwards_business():
    ufunc = cupyx.numba.vectorize(twice_and)
    with pytest.raises(TypeError, match='returned NotImplemented'):
        ufunc.reduce(ak.to_backend(ak.Array(LISTS), 'cuda'), axis=-1)
