"""Functions that kernels of CuPy call."""
from __future__ import annotations

import math
import subprocess
import sys

import numba
import pytest

import cupy
import cupyx.numba
from cupyx.numba import _fingerprint


def cube(x):
    return x * x * x


@pytest.fixture(scope='module')
def function():
    return cupyx.numba.device_function(cube, 'float64(float64)')


class TestKernels:

    def test_elementwise(self, function):
        kernel = cupy.ElementwiseKernel(
            'float64 x', 'float64 y', f'y = {function}(x) + 1', 'cubes',
            preamble=function.preamble)
        assert kernel(cupy.arange(4.)).tolist() == [1, 2, 9, 28]

    def test_reduction(self, function):
        kernel = cupy.ReductionKernel(
            'float64 x', 'float64 y', f'{function}(x)', 'a + b', 'y = a',
            '0', 'sum_of_cubes', preamble=function.preamble)
        assert kernel(cupy.arange(1000.)) == sum(i ** 3 for i in range(1000))

    def test_raw_kernel(self, function):
        kernel = cupy.RawKernel(function.preamble + f'''
            extern "C" __global__ void cubes(double *x) {{
                x[threadIdx.x] = {function}(x[threadIdx.x]);
            }}''', 'cubes')
        x = cupy.arange(4.)
        kernel((1,), (4,), (x,))
        assert x.tolist() == [0, 1, 8, 27]

    def test_raw_module_with_templates(self, function):
        module = cupy.RawModule(code=function.preamble + f'''
            template <typename T> __global__ void cubes(T *x) {{
                x[threadIdx.x] = {function}(x[threadIdx.x]);
            }}''', name_expressions=['cubes<float>', 'cubes<double>'])
        for dtype, name in ('f', 'float'), ('d', 'double'):
            x = cupy.arange(4, dtype=dtype)
            module.get_function(f'cubes<{name}>')((1,), (4,), (x,))
            assert x.tolist() == [0, 1, 8, 27]

    def test_several_functions_in_a_kernel(self, function):
        half = cupyx.numba.device_function(
            lambda x: x / 2, numba.float32(numba.float64))
        kernel = cupy.ElementwiseKernel(
            'float64 x', 'float32 y', f'y = {half}({function}(x))', 'both',
            preamble=function.preamble + half.preamble)
        assert kernel(cupy.arange(3.)).tolist() == [0, 0.5, 4]

    def test_several_results(self):
        function = cupyx.numba.device_function(
            lambda x: (x + 1, x * 0.5), (numba.int64,))
        kernel = cupy.ElementwiseKernel(
            'int64 x', 'int64 y, float64 z', f'{function}(x, y, z)', 'pair',
            preamble=function.preamble)
        y, z = kernel(cupy.arange(3))
        assert y.tolist() == [1, 2, 3] and z.tolist() == [0, 0.5, 1]

    def test_names(self):
        functions = [
            cupyx.numba.device_function(lambda x: x, 'f8(f8)'),
            cupyx.numba.device_function(lambda x: x, 'f4(f4)'),
            cupyx.numba.device_function(lambda x: x + 1, 'f8(f8)')]
        assert len({str(f) for f in functions}) == 3
        assert 'float64' in repr(functions[0])

    def test_symbols_without_a_function(self):
        kernel = cupy.RawKernel(
            'extern "C" __device__ int cupy_linked_' + '0' * 32 + '();'
            'extern "C" __global__ void k() { cupy_linked_' + '0' * 32
            + '(); }', 'k')
        with pytest.raises(RuntimeError, match='no function of this process'):
            kernel.compile()

    def test_call_is_inlined(self, monkeypatch):
        from cupy.cuda import _device_link
        linked = []
        link = _device_link._link
        monkeypatch.setattr(
            _device_link, '_link',
            lambda *args: linked.append(link(*args)) or linked[-1])
        monkeypatch.setenv('CUPY_CACHE_IN_MEMORY', '1')
        function = cupyx.numba.device_function(
            lambda x, y: x * y + 0.125, 'f8(f8,f8)')
        cupy.ElementwiseKernel(
            'float64 x', 'float64 y', f'y = {function}(x, x)', 'inlined',
            preamble=function.preamble)(cupy.ones(3))
        [code] = linked
        if code.startswith(b'\x7fELF'):
            assert b'cupy_linked_' not in code
        else:
            assert b'fma.rn.f64' in code and b'call' not in code


FACTOR = 2


def scaled(x):
    return x * FACTOR


class TestFingerprints:
    """Equal digests compute the same, in any process."""

    def digest(self, function):
        return _fingerprint.of_function(function)

    def test_closures(self):
        def make(value):
            return lambda x: x + value

        digests = {self.digest(make(v)) for v in (1, 1., 2, True, 'a')}
        assert len(digests) == 5
        assert self.digest(make(1)) == self.digest(make(1))

    def test_constants_and_names(self):
        functions = [lambda x: x + 1, lambda x: x + 2, lambda x: x - 1,
                     lambda x: math.sin(x), lambda x: math.cos(x),
                     lambda x, y=1: x + y, lambda x, y=2: x + y]
        assert len({self.digest(f) for f in functions}) == len(functions)

    def test_globals(self, monkeypatch):
        before = self.digest(scaled)
        monkeypatch.setitem(globals(), 'FACTOR', 3)
        assert self.digest(scaled) != before

    def test_called_functions(self, monkeypatch):
        def outer(x):
            return scaled(x) + 1

        before = self.digest(outer)
        monkeypatch.setitem(globals(), 'FACTOR', 3)
        assert self.digest(outer) != before
        jitted = numba.njit(scaled)
        assert self.digest(lambda x: jitted(x)) is not None

    def test_functions_of_modules(self, monkeypatch, tmp_path):
        (tmp_path / 'helpers.py').write_text('def help(x): return x\n')
        monkeypatch.syspath_prepend(tmp_path)
        import helpers
        before = self.digest(lambda x: helpers.help(x))
        monkeypatch.setattr(helpers, 'help', lambda x: x + 1)
        assert self.digest(lambda x: helpers.help(x)) not in (None, before)

    def test_recursion(self):
        def even(n):
            return n == 0 or not even(n - 1)

        assert self.digest(even) is not None

    def test_what_cannot_be_told(self):
        thing = object()
        assert self.digest(lambda x: x if thing else 0) is None


def test_redefined_function_is_compiled_again():
    results = []
    for factor in 2, 3:
        ufunc = cupyx.numba.vectorize(
            eval('lambda x: x * factor', {'factor': factor}))
        results.append(int(ufunc(cupy.array(5))))
    assert results == [10, 15]


PROGRAM = '''
import cupy, cupyx.numba
from cupyx.numba._choice import compiler
compiled = []
for name in 'infer', 'entry':
    def count(*args, original=getattr(compiler, name)):
        compiled.append(1)
        return original(*args)
    setattr(compiler, name, count)

@cupyx.numba.vectorize
def ufunc(x, y):
    return x * 7 + y

print(ufunc(cupy.arange(3), 1).tolist(), len(compiled))
'''


def test_compiled_code_is_shared_between_processes(monkeypatch, tmp_path):
    monkeypatch.setenv('CUPY_CACHE_DIR', str(tmp_path))

    def run(before=''):
        # numba reads the function's source.
        (tmp_path / 'program.py').write_text(before + PROGRAM)
        return subprocess.run(
            [sys.executable, tmp_path / 'program.py'], text=True, check=True,
            capture_output=True).stdout.split(']')

    assert run() == ['[1, 8, 15', ' 2\n']
    assert run() == ['[1, 8, 15', ' 0\n']
    # Another CUDA version may not read the LTO-IR of this one.
    assert run('from cupy.cuda import _device_link\n'
               '_device_link.linker_version = lambda: (0, 0)\n') == [
        '[1, 8, 15', ' 1\n']
