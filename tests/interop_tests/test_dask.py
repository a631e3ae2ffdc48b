"""CuPy's ufuncs on Dask's arrays of CuPy arrays."""
from __future__ import annotations

import os

import dask
import dask.array
import dask.distributed
import numpy
import pytest

import cupy
import cupyx.numba

VALUES = numpy.linspace(1., 2., 12).reshape(4, 3)
BOTH = pytest.mark.parametrize('xp', [numpy, cupy])


def chunked(xp):
    return dask.array.from_array(
        xp.array(VALUES), chunks=(2, 3), asarray=False)


@pytest.fixture(autouse=True)
def scheduler(request):
    # Threads would compile the same kernel at the same time.
    if 'cluster' in request.fixturenames:
        yield
        return
    with dask.config.set(scheduler='synchronous'):
        yield


def assert_same(actual, expected):
    if isinstance(expected, tuple):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected):
            assert_same(a, e)
        return
    assert type(actual) is type(expected) is dask.array.Array
    assert actual.dtype == expected.dtype
    assert actual.chunks == expected.chunks
    actual, expected = actual.compute(), expected.compute()
    assert isinstance(actual, cupy.ndarray)
    cupy.testing.assert_allclose(actual, expected, rtol=1e-14)
    assert actual.dtype == expected.dtype


FUNCTIONS = {
    'sqrt': lambda xp, d: xp.sqrt(d),
    'add': lambda xp, d: xp.add(d, d),
    'array first': lambda xp, d: xp.add(xp.asarray(VALUES), d),
    'array second': lambda xp, d: xp.add(d, xp.asarray(VALUES)),
    'operator': lambda xp, d: xp.asarray(VALUES) * d,
    'dtype': lambda xp, d: xp.add(d, 1, dtype='float32'),
    'sum': lambda xp, d: xp.sqrt(d).sum(axis=0),
    'two outputs': lambda xp, d: xp.modf(d),
    'divmod': lambda xp, d: xp.divmod(d, 0.25),
    'frexp': lambda xp, d: xp.frexp(d),
    'outer': lambda xp, d: xp.multiply.outer(d, d),
    'sliced': lambda xp, d: xp.sqrt(d[1:3]),
    'other chunks': lambda xp, d: xp.sqrt(d.rechunk((1, 3))),
    'chain': lambda xp, d: xp.exp(xp.negative(xp.square(d))),
}


@pytest.mark.parametrize('function', FUNCTIONS)
def test_functions(function):
    call = FUNCTIONS[function]
    assert_same(call(cupy, chunked(cupy)), call(numpy, chunked(numpy)))


def test_nothing_runs_before_compute():
    calls = []

    def load(block):
        calls.append(block.shape)
        return block

    array = chunked(cupy).map_blocks(load, meta=cupy.empty((0, 0)))
    result = cupy.sqrt(array)
    assert calls == []
    assert isinstance(result._meta, cupy.ndarray)
    result.compute()
    assert calls == [(2, 3), (2, 3)]


def test_out():
    for xp in numpy, cupy:
        array = chunked(xp)
        assert xp.sqrt(array, out=array) is array
        cupy.testing.assert_allclose(array.compute(), numpy.sqrt(VALUES))


def test_where():
    results = []
    for xp in numpy, cupy:
        array, out = chunked(xp), chunked(xp)
        xp.negative(array, where=array > 1.5, out=out)
        results.append(out)
    assert_same(results[1], results[0])


def test_threads():
    with dask.config.set(scheduler='threads', num_workers=2):
        assert_same(cupy.tanh(chunked(cupy)), numpy.tanh(chunked(numpy)))


class TestRefusals:
    """What dask.array supports of no library."""

    @BOTH
    @pytest.mark.parametrize('method', ['reduce', 'accumulate'])
    def test_methods(self, xp, method):
        with pytest.raises(TypeError, match=f"NotImplemented.*'{method}'"):
            getattr(xp.add, method)(chunked(xp))

    @BOTH
    def test_at(self, xp):
        with pytest.raises(TypeError, match="NotImplemented.*'at'"):
            xp.add.at(chunked(xp), 0, 1)

    def test_ufuncs_without_counterpart(self):
        """Dask takes NumPy's ufuncs and itself calls no others."""
        with pytest.raises(TypeError, match="NotImplemented.*'cupy_rsqrt'"):
            cupyx.rsqrt(chunked(cupy))
        result = chunked(cupy).map_blocks(cupyx.rsqrt)
        cupy.testing.assert_allclose(result.compute(), VALUES ** -0.5)


@pytest.fixture(scope='module')
def cluster():
    with (dask.distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True,
            dashboard_address=None) as cluster,
          dask.distributed.Client(cluster) as client):
        yield client


class TestCluster:
    """Two worker processes, each with its own device context."""

    def test_where_it_runs(self, cluster):
        def place():
            return os.getpid(), os.environ.get('CUPY_DEVICE')

        places = cluster.run(place).values()
        processes, devices = zip(*places)
        assert len({os.getpid(), *processes}) == 3
        assert set(devices) == {os.environ.get('CUPY_DEVICE')}

    def test_arrays_from_here(self, cluster):
        result = cupy.sqrt(chunked(cupy))
        assert_same(result, numpy.sqrt(chunked(numpy)))

    def test_arrays_made_there(self, cluster):
        def total(xp):
            def make(block_info=None):
                (start, stop), _ = block_info[None]['array-location']
                return xp.arange(start * 3., stop * 3.).reshape(-1, 3)

            array = dask.array.map_blocks(
                make, chunks=((2, 2), (3,)), dtype=float,
                meta=xp.empty((0, 0)))
            return xp.add(xp.sqrt(array), array).sum(axis=0)

        assert_same(total(cupy), total(numpy))

    @pytest.mark.parametrize('signatures', [(), ['float64(float64)']])
    def test_ufuncs_of_numba(self, cluster, signatures):
        # It is no function of a module that the workers could import.
        ufunc = cupyx.numba.vectorize(signatures)(lambda x: x * 3 + 1)
        result = ufunc(chunked(cupy))
        assert type(result) is dask.array.Array
        assert result.dtype == 'float64'
        cupy.testing.assert_array_equal(result.compute(), VALUES * 3 + 1)
