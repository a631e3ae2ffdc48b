"""numba.vectorize(target='cuda'), as_ufunc, pickles."""
from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numba
from numba import cloudpickle
from numba import cuda
import numpy
import pytest

import cupy
import cupyx.numba

@cupyx.numba.vectorize
def importable(x):
    return x + 1


class TestDecorators:

    @pytest.mark.parametrize('vectorize', [numba.vectorize, cuda.vectorize])
    def test_vectorize(self, vectorize):
        @vectorize(['float64(float64)'], target='cuda', identity=0)
        def ufunc(x):
            return x * 2

        assert type(ufunc) is cupyx.numba.UFunc
        assert ufunc.identity == 0 and ufunc.types == ['d->d']
        assert ufunc(cupy.arange(3.)).tolist() == [0, 2, 4]

    def test_without_signatures(self):
        @numba.vectorize(target='cuda')
        def ufunc(x):
            return x * 2

        assert ufunc(cupy.arange(3)).dtype == 'l'
        assert ufunc(cupy.arange(3, dtype='d')).dtype == 'd'

    def test_guvectorize(self):
        @numba.guvectorize(['void(int64[:], int64[:])'], '(n)->()',
                           target='cuda')
        def total(x, result):
            result[0] = x.sum()

        assert type(total) is cupyx.numba.GUFunc
        assert total(cupy.ones((2, 3), 'l')).tolist() == [3, 3]

    def test_other_targets_are_numbas(self):
        ufunc = numba.vectorize(['float64(float64)'])(lambda x: x)
        assert not isinstance(ufunc, cupy.ufunc)
        assert type(ufunc(numpy.ones(2))) is numpy.ndarray

    def test_options(self):
        with pytest.raises(KeyError, match='strange'):
            numba.vectorize(['f8(f8)'], target='cuda', strange=1)(abs)
        with pytest.raises(TypeError, match='not supported: .strange'):
            numba.guvectorize(['void(f8[:],f8[:])'], '(n)->()',
                              target='cuda', strange=1)(abs)
        with pytest.raises(TypeError, match='nopython'):
            numba.guvectorize(['void(f8[:],f8[:])'], '(n)->()',
                              target='cuda', nopython=False)(abs)
        with pytest.warns(RuntimeWarning, match='redundant'):
            numba.vectorize(['f8(f8)'], target='cuda', nopython=True)(
                lambda x: x)


def run(program, **environment):
    import os
    return subprocess.run(
        [sys.executable, '-c', program], text=True, check=True,
        capture_output=True, env=os.environ | environment).stdout.split()


@pytest.mark.parametrize('imports', [
    'import numba, cupy', 'import cupy, numba', 'import numba.cuda, cupy',
    'import cupy, numba.cuda'])
def test_order_of_imports(imports):
    program = imports + '''
from numba import cuda
for v in numba.vectorize, cuda.vectorize:
    print(type(v(['f8(f8)'], target='cuda')(lambda x: x)).__module__)
'''
    assert run(program) == ['cupyx.numba._ufunc'] * 2


def test_environment_leaves_numba_alone():
    program = '''
import sys, cupy, numba
from numba.np.ufunc import Vectorize
registry = Vectorize.target_registry
print('cuda' in registry.ondemand, 'cupyx.numba' in sys.modules)
import cupyx.numba
cupyx.numba.register()
print('cuda' in registry.ondemand)
'''
    assert run(program, CUPY_NUMBA_UFUNCS='0') == ['True', 'False', 'False']


@pytest.mark.parametrize(('missing', 'advice'), [
    ("sys.modules['numba'] = None", '(which needs numba, which is not '),
    ("metadata.version = absent",
     "pip install numba 'numba-cuda[cu13]>=0.22' or "),
    ("metadata.version = lambda name: '0.4.1'",
     'numba-cuda-mlir 0.5 or newer (which is 0.4.1 here)'),
    ("os.environ['CUPY_NUMBA_COMPILER'] = 'numba'",
     "has to be numba-cuda or numba-cuda-mlir, not 'numba'")])
def test_without_a_compiler(missing, advice):
    program = f'''
import os, sys, cupy
from importlib import metadata
def absent(name):
    raise metadata.PackageNotFoundError(name)
sys.modules['numba_cuda_mlir'] = None
os.environ.pop('CUPY_NUMBA_COMPILER', None)
{missing}
try:
    import cupyx.numba
    cupyx.numba.vectorize(['f8(f8)'])(lambda x: x)
except ImportError as error:
    print(error)
'''
    assert advice in ' '.join(run(program))


def test_import_cupy_does_not_import_numba():
    assert run('import cupy, sys; print("numba" in sys.modules)') == ['False']


class TestAsUfunc:
    """Ufuncs that numba itself has built."""

    def test_ufunc(self):
        from numba.cuda import vectorizers

        def weighted(x, y):
            return x + 2 * y

        builder = vectorizers.CUDAVectorize(weighted, targetoptions={})
        for signature in 'f4(f4,f4)', 'f8(f8,f8)':
            builder.add(signature)
        ufunc = cupyx.numba.as_ufunc(builder.build_ufunc())
        assert ufunc.types == ['ff->f', 'dd->d']
        assert ufunc(cupy.arange(3.), 1).tolist() == [2, 3, 4]
        assert cupyx.numba.as_ufunc(ufunc) is ufunc

    def test_gufunc(self):
        from numba.cuda import vectorizers

        class Builder(vectorizers.CUDAGUFuncVectorize):
            # numba would compile for a GPU now, not at the first call.
            def _compile_kernel(self, fnobj, sig):
                return cuda.jit(fnobj)

        builder = Builder(total, '(n)->()', targetoptions={})
        builder.add('void(float64[:], float64[:])')
        gufunc = cupyx.numba.as_ufunc(builder.build_ufunc())
        assert gufunc(cupy.ones((2, 3))).tolist() == [3, 3]

    def test_something_else(self):
        with pytest.raises(TypeError, match='no ufunc that numba has built'):
            cupyx.numba.as_ufunc(numpy.add)


class TestPickle:

    def test_importable(self):
        for module in pickle, cloudpickle:
            assert module.loads(module.dumps(importable)) is importable
        assert copy.copy(importable) is importable
        assert copy.deepcopy([importable])[0] is importable

    @pytest.mark.parametrize('signatures', [(), ['float64(float64)']])
    def test_local(self, signatures):
        factor = 3
        ufunc = cupyx.numba.vectorize(signatures, identity=1)(
            lambda x: x * factor)
        for dumps in pickle.dumps, cloudpickle.dumps:
            other = pickle.loads(dumps(ufunc))
            assert type(other) is cupyx.numba.UFunc
            assert other.identity == 1 and other.types == ufunc.types
            assert other(cupy.arange(3.)).tolist() == [0, 3, 6]

    def test_gufunc(self):
        gufunc = cupyx.numba.guvectorize(
            'void(float64[:], float64[:])', '(n)->()')(total)
        other = pickle.loads(pickle.dumps(gufunc))
        assert other(cupy.ones((2, 3))).tolist() == [3, 3]
        assert copy.copy(gufunc) is gufunc


def total(x, result):
    result[0] = x.sum()
