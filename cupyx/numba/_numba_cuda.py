"""numba-cuda as the compiler."""
from __future__ import annotations

import contextlib
import importlib
import types as python_types

from cupyx.numba import _compiler


class NumbaCuda(_compiler.Compiler):
    """numba's compiler for CUDA, which has the types of numba."""

    package = 'numba-cuda'
    # From this version on it compiles with all that a function calls.
    oldest = '0.22'
    module = 'numba.cuda'
    dialect = 'numba'

    @property
    def types(self):
        return self.part('core.types')

    def _infer(self, function, argtypes, fastmath):
        module = importlib.import_module(self.module)
        with _compiling_for(module, self._any_cc):
            _, restype = module.compile(
                function, argtypes, device=True, abi='numba',
                fastmath=fastmath, cc=self._any_cc, output='ltoir')
        return restype

    def _compile(self, function, signature, symbol, cc, fastmath):
        module = importlib.import_module(self.module)
        with _compiling_for(module, cc):
            # float16 arithmetic is CUDA C++ that numba compiles beside it.
            codes, _ = module.compile_all(
                function, signature, device=True, abi='c',
                abi_info={'abi_name': symbol}, cc=cc, fastmath=fastmath,
                output='ltoir')
        return [_as_bytes(c) for c in codes]

    def pass_array(self, c_type, data, sizes, strides, itemsize):
        # Two pointers that are not used, the size, the size of an element,
        # the data, the shape and the strides in bytes.
        kinds = ['void *', 'void *', 'long long', 'long long', f'{c_type} *']
        return kinds + ['long long'] * (2 * len(sizes)), [
            '0', '0', ' * '.join(sizes), str(itemsize), data, *sizes,
            *strides]


@contextlib.contextmanager
def _compiling_for(module, cc):
    """Answers numba's question for the compute capability.

    Where a function calls another, numba asks its own driver for it, which
    may not know the device that CuPy uses.
    """
    dispatcher = importlib.import_module(f'{module.__name__}.dispatcher')
    device = python_types.SimpleNamespace(compute_capability=cc)
    original = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: device
    try:
        yield
    finally:
        dispatcher.get_current_device = original


def _as_bytes(code):
    code = getattr(code, 'code', code)  # an ObjectCode of cuda.core
    if not isinstance(code, (bytes, bytearray)):
        raise TypeError(
            'the function calls one of another kind of file than LTO-IR or '
            f'CUDA C++ ({code!r}), which cannot be linked into a kernel of '
            'CuPy')
    return bytes(code)
