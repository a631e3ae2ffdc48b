"""Pickling and copying of ufuncs and kernels that have run."""
from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys

import numpy
import pytest

import cupy
import cupyx
from cupyx.scipy import special

PUBLIC = [cupy.sqrt, cupy.divide, cupy.deg2rad, cupy.fix, cupy.matmul,
          cupyx.rsqrt, special.erf, special.ellipk]


def _copies(func):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(func, protocol))
    yield copy.copy(func)
    yield copy.deepcopy(func)


@pytest.mark.parametrize('func', PUBLIC, ids=lambda f: f.__name__)
def test_public_ones_stay_themselves(func):
    assert all(c is func for c in _copies(func))


def test_bytes_do_not_depend_on_what_ran():
    # Dask names a task by them.
    before = pickle.dumps(cupyx.rsqrt)
    cupyx.rsqrt(cupy.ones(2, 'float32'))
    assert pickle.dumps(cupyx.rsqrt) == before


def _kernel():
    return cupy.ElementwiseKernel(
        'T x', 'T y', 'y = x + 40', 'pickled_kernel')


def _ufunc():
    return cupy._core.create_ufunc(
        'pickled_ufunc', ('d->d',), 'out0 = in0 + 40')


@pytest.mark.parametrize('make', [_kernel, _ufunc])
def test_own_ones_are_rebuilt(make):
    func, array = make(), cupy.arange(3.)
    expected = numpy.arange(3.) + 40
    cupy.testing.assert_array_equal(func(array), expected)
    for one in _copies(func):
        assert type(one) is type(func)
        cupy.testing.assert_array_equal(one(array), expected)
        # The copy takes along no module of the original.
        del one
        gc.collect()
        cupy.testing.assert_array_equal(func(array), expected)


def test_gufunc_of_ones_own():
    gufunc = cupyx.GeneralizedUFunc(_first, '(n)->()')
    assert pickle.loads(pickle.dumps(gufunc)).signature == '(n)->()'


def _first(x):
    return x[..., 0]


def test_another_process():
    data = pickle.dumps([cupyx.rsqrt, _kernel()])
    code = ('import pickle, sys, cupy\n'
            'data = pickle.loads(sys.stdin.buffer.read())\n'
            'print([f(cupy.ones(1)).item() for f in data])\n')
    result = subprocess.run(
        [sys.executable, '-c', code], input=data, capture_output=True,
        check=True)
    assert result.stdout.decode().strip() == '[1.0, 41.0]'
