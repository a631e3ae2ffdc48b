"""numba-cuda-mlir as the compiler."""
from __future__ import annotations

import importlib
import operator
import types as python_types

from cupyx.numba import _compiler
from cupyx.numba import _fingerprint


class NumbaCudaMlir(_compiler.Compiler):
    """numba's compiler for CUDA on MLIR, which has types of its own."""

    package = 'numba-cuda-mlir'
    oldest = '0.5'
    module = 'numba_cuda_mlir.cuda'
    dialect = 'numba_cuda_mlir.numba_cuda'

    @property
    def types(self):
        return self.part('types')

    def _infer(self, function, argtypes, fastmath):
        _, restype = self._run(
            _Translation(self.module).function(function), argtypes,
            self._any_cc, fastmath, abi='numba')
        return restype

    def _entry_point(self, function, argtypes, nout):
        return super()._entry_point(
            _Translation(self.module).function(function), argtypes, nout)

    def _compile(self, function, signature, symbol, cc, fastmath):
        code, _ = self._run(
            function, signature, cc, fastmath, abi='c',
            abi_info={'abi_name': symbol})
        return [bytes(code)]

    def _run(self, function, signature, cc, fastmath, **abi):
        module = importlib.import_module(self.module)
        return module.compile(
            function, signature, device=True, cc=cc, fastmath=fastmath,
            output='ltoir', **abi)

    def pass_array(self, c_type, data, sizes, strides, itemsize):
        # MLIR's memref: the data twice, an offset, the shape and the strides
        # in elements.
        kinds = [f'{c_type} *'] * 2 + ['long long'] * (1 + 2 * len(sizes))
        return kinds, [data, data, '0', *sizes,
                       *(f'{s} / {itemsize}' for s in strides)]


class _Translation:
    """Puts functions of numba-cuda-mlir in place of those of numba.

    A function may call others that ``numba.njit`` has wrapped, which
    numba-cuda-mlir does not know.

    Args:
        module (str): Where ``jit`` is.
    """

    def __init__(self, module):
        self._cuda = importlib.import_module(module)
        self._known = {}

    def function(self, function):
        """Returns a Python function, a copy if it calls any of numba's."""
        scope = function.__globals__
        found = {name: self._value(scope[name])
                 for name in _fingerprint.all_names(function.__code__)
                 if name in scope}
        cells = [c.cell_contents for c in function.__closure__ or ()]
        values = list(map(self._value, cells))
        if (all(scope[name] is value for name, value in found.items())
                and all(map(operator.is_, cells, values))):
            return function
        copy = python_types.FunctionType(
            function.__code__, {**scope, **found}, function.__name__,
            function.__defaults__,
            tuple(map(python_types.CellType, values)) or None)
        copy.__module__ = function.__module__
        copy.__qualname__ = function.__qualname__
        return copy

    def _value(self, value):
        inner = getattr(value, 'py_func', None)
        if not isinstance(inner, python_types.FunctionType) or (
                type(value).__module__.startswith('numba_cuda_mlir')):
            return value
        if inner not in self._known:
            self._known[inner] = value  # it may call itself
            self._known[inner] = self._cuda.jit(device=True)(
                self.function(inner))
        return self._known[inner]
