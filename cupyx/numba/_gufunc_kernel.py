"""Kernels that loop over the elements of a generalized ufunc."""
from __future__ import annotations

import math

import numpy

import cupy
from cupyx.numba import _device_function
from cupyx.numba import _types
from cupyx.numba._choice import compiler
from cupyx.numba._types import types


class Loop(_device_function.CompiledFunction):
    """A function of arrays, compiled for some dtypes.

    Args:
        pyfunc (function): Its last arguments are the outputs.
        argtypes (tuple): numba types, scalars or arrays.
        nin (int): Number of inputs.
        fastmath (bool): Trade accuracy for speed.

    Attributes:
        in_dtypes, out_dtypes (tuple): Dtypes of inputs and outputs.
        dtypes (tuple): All of them.
    """

    def __init__(self, pyfunc, argtypes, nin, fastmath):
        argtypes = tuple(
            types.Array(t.dtype, t.ndim, 'A') if isinstance(t, types.Array)
            else t for t in argtypes)
        super().__init__(pyfunc, argtypes, fastmath)
        self.dtypes = tuple(
            _types.to_dtype(getattr(t, 'dtype', t),
                            f'an argument of {pyfunc.__name__}')
            for t in argtypes)
        self.in_dtypes, self.out_dtypes = self.dtypes[:nin], self.dtypes[nin:]
        self._check()
        self._symbol = self.register(())
        self._kernels = {}

    @property
    def types(self):
        return '->'.join(''.join(d.char for d in dtypes)
                         for dtypes in (self.in_dtypes, self.out_dtypes))

    def _check(self):
        """Lets numba complain where the user sees which function it is."""
        self._stored('checked', lambda: repr(compiler.infer(
            self._pyfunc, self._argtypes, self._fastmath)).encode())

    def launch(self, operands, shape):
        """Runs the function for all elements of the loop dimensions.

        Args:
            operands (list): Arrays whose shape is ``shape`` and the core
                dimensions.
            shape (tuple): Loop dimensions.
        """
        size = math.prod(shape)
        if size == 0:
            return
        values = [size, *shape]
        for x in operands:
            values += [x.data.ptr, *x.strides[:len(shape)],
                       *x.shape[len(shape):], *x.strides[len(shape):]]
        core_ndims = tuple(x.ndim - len(shape) for x in operands)
        kernel = self._kernel(len(shape), core_ndims)
        parameters = numpy.array(values, numpy.int64)
        kernel((-(-size // 128),), (128,),
               (parameters.view(f'V{parameters.nbytes}'),))

    def _kernel(self, ndim, core_ndims):
        key = ndim, core_ndims
        if key not in self._kernels:
            name = _device_function.identifier(self._pyfunc.__name__)
            self._kernels[key] = cupy.RawKernel(
                self._source(name, ndim, core_ndims), name)
        return self._kernels[key]

    def _source(self, name, ndim, core_ndims):
        """Returns the kernel; its parameters are one block of integers."""
        declared, passed, starts = [], [], []
        at = 1 + ndim
        for i, (t, dtype, core) in enumerate(
                zip(self._argtypes, self.dtypes, core_ndims)):
            starts.append(at)
            core_at = at + 1 + ndim
            kinds, values = _parameters(t, dtype, i, core, core_at)
            declared += kinds
            passed += values
            at = core_at + 2 * core
        return _SOURCE.format(
            count=at, symbol=self._symbol, name=name,
            declared=', '.join(declared), passed=', '.join(passed),
            pointers=''.join(f'    char *x{i} = (char *)p.v[{s}];\n'
                             for i, s in enumerate(starts)),
            steps=''.join(
                _STEP.format(dim=1 + d, moves=''.join(
                    f' x{i} += k * p.v[{s + 1 + d}];'
                    for i, s in enumerate(starts)))
                for d in reversed(range(ndim))))


def _parameters(numba_type, dtype, i, core, at):
    """Returns C types and values by which an operand is passed."""
    c_type = _types.c_name(dtype)
    data = f'({c_type} *)x{i}'
    if not isinstance(numba_type, types.Array):
        return compiler.pass_scalar(c_type, data, dtype.itemsize)
    if core:
        sizes = [f'p.v[{at + k}]' for k in range(core)]
        strides = [f'p.v[{at + core + k}]' for k in range(core)]
    else:
        sizes, strides = ['1'], [str(dtype.itemsize)]
    return compiler.pass_array(c_type, data, sizes, strides, dtype.itemsize)


_SOURCE = '''#include <cupy/complex.cuh>
#include <cupy/carray.cuh>
struct Parameters {{ long long v[{count}]; }};
extern "C" __device__ int {symbol}({declared});
extern "C" __global__ void {name}(const Parameters p) {{
  const long long step = (long long)blockDim.x * gridDim.x;
  for (long long i = (long long)blockDim.x * blockIdx.x + threadIdx.x;
       i < p.v[0]; i += step) {{
    long long rest = i;
{pointers}{steps}    {symbol}({passed});
  }}
}}
'''
_STEP = '''    {{ const long long k = rest % p.v[{dim}];
      rest /= p.v[{dim}];{moves} }}
'''
