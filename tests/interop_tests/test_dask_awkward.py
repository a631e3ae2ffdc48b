"""CuPy's ufuncs on dask-awkward's collections."""
from __future__ import annotations

import awkward as ak
import dask
import dask.distributed
import dask_awkward
import numpy
import pytest

import cupy

LISTS = [[1., 2.], [], [3.], [4., 5., 6.]]
BOTH = pytest.mark.parametrize(
    'xp, backend', [(numpy, 'cpu'), (cupy, 'cuda')], ids=['numpy', 'cupy'])


def collection(backend):
    array = ak.to_backend(ak.Array(LISTS), backend)
    return dask_awkward.from_awkward(array, 2)


def assert_same(actual, expected):
    assert isinstance(actual, dask_awkward.Array)
    actual, expected = (
        x.compute(scheduler='synchronous') for x in (actual, expected))
    assert ak.backend(actual) == 'cuda'
    assert ak.almost_equal(ak.to_backend(actual, 'cpu'), expected)


FUNCTIONS = {
    'sqrt': lambda xp, d: xp.sqrt(d),
    'add': lambda xp, d: xp.add(d, d),
    'scalar': lambda xp, d: xp.subtract(10, d),
    'less': lambda xp, d: xp.less(d, 3),
    'chain': lambda xp, d: xp.exp(xp.negative(d)) * 2,
}


@pytest.mark.parametrize('function', FUNCTIONS)
def test_functions(function):
    call = FUNCTIONS[function]
    assert_same(call(cupy, collection('cuda')),
                call(numpy, collection('cpu')))


def test_nothing_runs_before_compute():
    calls = []

    def load(n):
        calls.append(n)
        return ak.to_backend(ak.Array([[float(n)]]), 'cuda')

    made = dask_awkward.from_map(
        load, [1, 4], meta=dask_awkward.from_awkward(
            ak.Array([[1.]]), 1)._meta)
    result = cupy.sqrt(made)
    assert calls == []
    result = result.compute(scheduler='synchronous')
    assert result.to_list() == [[1.], [2.]]
    assert sorted(calls) == [1, 4]


class TestRefusals:
    """What dask-awkward supports of no library."""

    @BOTH
    def test_methods(self, xp, backend):
        with pytest.raises(RuntimeError, match="only method == '__call__'"):
            xp.add.reduce(collection(backend))

    @BOTH
    def test_out(self, xp, backend):
        array = collection(backend)
        with pytest.raises(RecursionError):
            xp.add(array, 1, out=array)


@pytest.fixture(scope='module')
def cluster():
    with (dask.distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True,
            dashboard_address=None) as cluster,
          dask.distributed.Client(cluster) as client):
        yield client


def test_cluster(cluster):
    """Made and used by the workers, sent by way of the host.

    dask-awkward cannot send Awkward Arrays on a device to another process.
    """
    def roots(xp, backend):
        def load(n):
            return ak.to_backend(ak.Array([[float(n)], []]), backend)

        def to_host(array):
            if ak.backend(array) == 'typetracer':
                return array
            assert ak.backend(array) == backend
            return ak.to_backend(array, 'cpu')

        meta = dask_awkward.from_awkward(ak.Array([[1.]]), 1)._meta
        made = dask_awkward.from_map(load, [1, 4], meta=meta)
        return xp.sqrt(made).map_partitions(to_host).compute().to_list()

    assert roots(cupy, 'cuda') == roots(numpy, 'cpu') == [[1.], [], [2.], []]
