"""numba-cuda-mlir in place of numba-cuda."""
from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

import numba
import pytest

from cupyx.numba import _numba_cuda_mlir

MLIR = _numba_cuda_mlir.NumbaCudaMlir()
HERE = Path(__file__).parent

needs_mlir = pytest.mark.skipif(
    sys.version_info < (3, 11), reason='numba-cuda-mlir needs Python 3.11')


def run(arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], text=True, capture_output=True,
        env={**os.environ, **environment})


def program(text, compiler=MLIR.package):
    done = run(['-c', text], CUPY_NUMBA_COMPILER=compiler)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_mlir
@pytest.mark.parametrize('file', [
    'test_vectorize.py', 'test_guvectorize.py', 'test_methods.py',
    'test_arguments.py', 'test_device_function.py',
    '../../interop_tests/test_awkward_numba.py'])
def test_all_tests_pass_with_it(file):
    done = run(['-m', 'pytest', '-q', '-p', 'no:cacheprovider', HERE / file],
               CUPY_NUMBA_COMPILER=MLIR.package)
    assert done.returncode == 0, done.stdout[-5000:]
    assert ' passed' in done.stdout


@needs_mlir
def test_is_enough_by_itself():
    text = '''
import sys
sys.modules['numba'] = None
import cupy, cupyx.numba, pickle
from numba_cuda_mlir import types

@cupyx.numba.vectorize([types.float64(types.float64, types.float64)])
def scaled(x, y):
    return 2 * x + y

print(scaled(cupy.arange(3.), 1).tolist())
print(pickle.loads(pickle.dumps(scaled)).reduce(cupy.ones(3)).tolist())

@cupyx.numba.guvectorize('void(float64[:], float64[:])', '(n)->()')
def total(x, result):
    result[0] = 0
    for i in range(x.size):
        result[0] += x[i]

print(total(cupy.ones((2, 3))).tolist())
'''
    assert program(text) == ['[1.0, 3.0, 5.0]', '7.0', '[3.0, 3.0]']


@needs_mlir
@pytest.mark.parametrize('target', ['vectorize', 'guvectorize'])
def test_decorators_of_numba(target):
    text = {'vectorize': '''
@numba.vectorize([numba.float64(numba.int32, numba.float64)], target='cuda')
def f(x, y):
    return x + y
print(f.types, f(cupy.arange(3, dtype='i'), .5).tolist())
''', 'guvectorize': '''
@numba.guvectorize(
    [numba.void(numba.float64[:], numba.int8, numba.float64[:])],
    '(n),()->(n)', target='cuda')
def f(x, y, result):
    for i in range(x.shape[0]):
        result[i] = x[i] + y
print(f.types, f(cupy.arange(3.), cupy.int8(1)).tolist())
'''}[target]
    printed, = program('import numba, cupy\n' + text)
    assert printed == {
        'vectorize': "['id->d'] [0.5, 1.5, 2.5]",
        'guvectorize': "['db->d'] [1.0, 2.0, 3.0]"}[target]


@needs_mlir
def test_types_of_the_other_package():
    text = '''
import cupy, cupyx.numba
from numba_cuda_mlir import types
f = cupyx.numba.vectorize([types.Tuple((types.float64, types.boolean))(
    types.float64)])(lambda x: (x / 2, x > 1))
print(f.types, [y.tolist() for y in f(cupy.arange(3.))])
'''
    assert program(text, 'numba-cuda') == [
        "['d->d?'] [[0.0, 0.5, 1.0], [False, False, True]]"]


@needs_mlir
def test_functions_that_numba_has_wrapped_are_translated():
    text = '''
import cupy, cupyx.numba, numba

@numba.njit
def half(x):
    return x / 2

@numba.njit
def quarter(x):
    return half(half(x))

def make():
    inner = quarter
    return lambda x: inner(x) + half(x)

f = cupyx.numba.vectorize(make())
print(f(cupy.arange(0., 12, 4)).tolist(), half(3), quarter(2))
'''
    assert program(text) == ['[0.0, 3.0, 6.0] 1.5 0.5']


def test_translation_leaves_other_functions_alone():
    def plain(x):
        return abs(x) + 1

    translation = _numba_cuda_mlir._Translation('math')
    assert translation.function(plain) is plain


def test_numba_cuda_is_preferred():
    from cupyx.numba import _choice
    if 'CUPY_NUMBA_COMPILER' not in os.environ:
        assert _choice.compiler.package == 'numba-cuda'
        assert _choice.compiler.types is numba.core.types
