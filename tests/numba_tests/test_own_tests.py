"""numba-cuda's own tests of its CUDA ufuncs, with CuPy's in their place.

They come with the installed package. ``import cupy`` has made CuPy's ufuncs
numba's target ``'cuda'``; numba's driver runs on the host device.
"""
from __future__ import annotations

import importlib
import unittest

import pytest

import cupyx.numba

_CUDAPY = 'numba.cuda.tests.cudapy.'
MODULES = [
    _CUDAPY + 'test_vectorize',
    _CUDAPY + 'test_vectorize_complex',
    _CUDAPY + 'test_vectorize_decor',
    _CUDAPY + 'test_vectorize_device',
    _CUDAPY + 'test_vectorize_scalar_arg',
    _CUDAPY + 'test_gufunc',
    _CUDAPY + 'test_gufunc_scalar',
    _CUDAPY + 'test_gufunc_scheduling',
    _CUDAPY + 'test_datetime',
    'numba.cuda.tests.doc_examples.test_ufunc',
]

# Tests that fail, and why they do.
DIFFERENCES = {
    'test_target_cuda_nopython': 'the warning is worded differently',
    'test_duplicated_output':
        'an output given twice is a TypeError, as in NumPy, not a ValueError',
    'test_inefficient_launch_configuration':
        'there is no warning about small grids',
    'test_gufunc_old_style_scalar_as_array':
        'an operand of shape (1,) for () has a loop dimension, as in NumPy',
    'test_gufunc_scalar_cast':
        'int64 is not cast to int32 unasked, as in NumPy',
}


def own_tests():
    loader = unittest.defaultTestLoader
    for name in MODULES:
        for case in loader.loadTestsFromModule(importlib.import_module(name)):
            yield from case


TESTS = list(own_tests())


@pytest.mark.parametrize('test', TESTS, ids=lambda test: test.id()[11:])
@pytest.mark.filterwarnings('default')
def test_own(test):
    result = unittest.TestResult()
    test.run(result)
    problems = [text for _, text in result.errors + result.failures]
    difference = DIFFERENCES.get(test.id().rpartition('.')[2])
    if difference:
        assert problems, f'it passes now: {difference}'
    else:
        assert not problems, problems[0]


def test_they_use_cupys_ufuncs():
    import numba
    from numba import cuda
    for vectorize in numba.vectorize, cuda.vectorize:
        ufunc = vectorize(['float64(float64)'], target='cuda')(lambda x: x)
        assert isinstance(ufunc, cupyx.numba.UFunc)


def test_all_are_found():
    assert len(TESTS) > 60
    names = {test.id().rpartition('.')[2] for test in TESTS}
    assert names >= DIFFERENCES.keys()
