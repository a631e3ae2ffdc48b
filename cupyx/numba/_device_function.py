"""Python functions that kernels of CuPy can call."""
from __future__ import annotations

import hashlib
import json
import pickle
import re
import types
import uuid

import numpy

from cupy.cuda import _device_link
from cupy.cuda import compiler as cuda_compiler
from cupyx.numba import _fingerprint
from cupyx.numba import _types
from cupyx.numba._choice import compiler


# Part of the keys on disk: counts changes of what the functions look like.
_ABI = 3


def device_function(pyfunc, signature, *, fastmath=False):
    """Compiles a Python function for calls from kernels of CuPy.

    Args:
        pyfunc (function): A Python function of scalars that numba can
            compile, or a function of numba.
        signature: Types of the arguments, as numba takes them:
            ``'float64(float64)'`` or ``(numba.float64,)``.
        fastmath (bool): Trade accuracy for speed.

    Returns:
        DeviceFunction: Its text is the name by which kernels call it; its
        :attr:`~DeviceFunction.preamble` declares it.

    Raises:
        numba.core.errors.NumbaError: numba cannot compile it.
        TypeError: The result is not a scalar or a tuple of scalars.
        ImportError: No compiler is installed.

    Example:
        >>> def cube(x):
        ...     return x * x * x
        >>> f = cupyx.numba.device_function(cube, 'float64(float64)')
        >>> kernel = cupy.ElementwiseKernel(
        ...     'float64 x', 'float64 y', f'y = {f}(x)', 'cubes',
        ...     preamble=f.preamble)
    """
    argtypes, restype = _types.parse(signature)
    return DeviceFunction(
        python_function(pyfunc), argtypes, restype, fastmath)


def python_function(function):
    """Returns the Python function of a function that numba has wrapped."""
    for get in (lambda f: f.py_func, lambda f: f.pyfunc,
                lambda f: f._dispatcher.py_func):
        try:
            found = get(function)
        except AttributeError:
            continue
        if isinstance(found, types.FunctionType):
            return found
    if not isinstance(function, types.FunctionType):
        raise TypeError(
            f'a Python function is needed, not {type(function).__name__!r}')
    return function


class CompiledFunction:
    """LTO-IR of a Python function for some types, made when it is linked.

    Args:
        pyfunc (function): The Python function.
        argtypes (tuple): numba types of its arguments.
        fastmath (bool): Trade accuracy for speed.
    """

    def __init__(self, pyfunc, argtypes, fastmath):
        self._pyfunc = pyfunc
        self._argtypes = tuple(argtypes)
        self._fastmath = bool(fastmath)
        digest = _fingerprint.of_function(pyfunc)
        self._on_disk = digest is not None
        self._digest = digest or uuid.uuid4().hex
        self._restypes = ()

    def __repr__(self):
        args = ', '.join(map(str, self._argtypes))
        return f'<{type(self).__name__} {self._pyfunc.__name__}({args})>'

    def register(self, restypes):
        """Makes the function known to the linker; returns its symbol."""
        self._restypes = tuple(restypes)
        symbol = _device_link.symbol(self._key(self._restypes))
        _device_link.register(
            symbol, lambda cc: self._code(symbol, cc))
        return symbol

    def infer(self):
        """Returns the dtypes of the results, which numba infers."""
        def infer():
            restype = compiler.infer(
                self._pyfunc, self._argtypes, self._fastmath)
            dtypes = _types.outputs(restype, self._pyfunc.__name__)
            return json.dumps([d.str for d in dtypes]).encode()

        return tuple(map(numpy.dtype, json.loads(
            self._stored('types', infer))))

    def _key(self, *more):
        return repr((_ABI, self._digest, compiler.version,
                     self._fastmath, self._argtypes, more))

    def _code(self, symbol, cc):
        def compile_():
            return pickle.dumps(compiler.entry(
                self._pyfunc, self._argtypes, self._restypes, symbol, cc,
                self._fastmath))

        return pickle.loads(self._stored(
            ('code', cc, self._restypes, _device_link.linker_version()),
            compile_))

    def _stored(self, what, make):
        """Returns ``make()``, from CuPy's kernel cache if it is there."""
        if not self._on_disk:
            return make()
        key = self._key(what)
        digest = hashlib.sha256(key.encode()).hexdigest()
        name = f'{digest[:40]}.numba'
        backend = cuda_compiler._kernel_cache_backend
        data = backend.load(name)
        if data is None:
            data = make()
            backend.save(name, data, key)
        return data


class DeviceFunction(CompiledFunction):
    """A Python function of scalars that kernels of CuPy can call.

    Attributes:
        name (str): Name by which CUDA C++ calls it. Results of a function
            that returns a tuple are references behind the arguments.
        preamble (str): CUDA C++ that declares it.
        in_dtypes (tuple): Dtypes of the arguments.
        out_dtypes (tuple): Dtypes of the results.
    """

    def __init__(self, pyfunc, argtypes, restype=None, fastmath=False):
        super().__init__(pyfunc, argtypes, fastmath)
        self.in_dtypes = tuple(
            _types.to_dtype(t, f'an argument of {pyfunc.__name__}')
            for t in self._argtypes)
        self.out_dtypes = self.infer()
        if restype is not None:
            self.out_dtypes = _types.outputs(restype, pyfunc.__name__)
        self.symbol = self.register(map(_types.to_numba, self.out_dtypes))
        self.name = f'{identifier(pyfunc.__name__)}_{self.symbol[-8:]}'
        self.preamble = self._preamble()

    def __str__(self):
        return self.name

    def _preamble(self):
        ins = [_types.c_name(d) for d in self.in_dtypes]
        outs = [_types.c_name(d) for d in self.out_dtypes]
        pointers = [f'&x{i}' for i in range(len(ins))]
        given = [f'{t} x{i}' for i, t in enumerate(ins)]
        if len(outs) == 1:
            result, last = outs[0], 'return y;'
            start = f'{outs[0]} y;'
            pointers += ['&y']
        else:
            result, start, last = 'void', '', ''
            pointers += [f'&y{i}' for i in range(len(outs))]
            given += [f'{t}& y{i}' for i, t in enumerate(outs)]
        declared, passed = [], []
        dtypes = self.in_dtypes + self.out_dtypes
        for c_type, dtype, pointer in zip(ins + outs, dtypes, pointers):
            kinds, values = compiler.pass_scalar(
                c_type, pointer, dtype.itemsize)
            declared += kinds
            passed += values
        return (
            f'extern "C" __device__ int {self.symbol}('
            f'{", ".join(declared)});\n'
            f'__device__ inline {result} {self.name}({", ".join(given)}) '
            f'{{ {start} {self.symbol}({", ".join(passed)}); {last} }}\n')


def identifier(name):
    """Returns a name of CUDA C++ that resembles ``name`` (``<lambda>``)."""
    return re.sub(r'\W+', '_', name, flags=re.ASCII).strip('_') or 'function'
