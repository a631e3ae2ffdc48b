"""numba's compilers behind one interface: a Python function to LTO-IR.

Only the compiler is used, not numba's driver: either package works wherever
it can be imported.
"""
from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.metadata
import threading
import types as python_types

from numba import types

# The first whose package is installed serves. From these versions on they
# compile with the C ABI to LTO-IR.
_COMPILERS = {
    'numba-cuda': ('numba.cuda', (0, 20)),
    'numba-cuda-mlir': ('numba_cuda_mlir.cuda', (0, 6)),
}

# Types do not depend on the compute capability.
_ANY = (8, 0)
_lock = threading.RLock()


@functools.cache
def compiler():
    """Returns the compiler's module and what identifies its output.

    Raises:
        ImportError: None is installed, or it is too old.
    """
    problems = []
    for package, (module, wanted) in _COMPILERS.items():
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        if tuple(map(int, version.split('.')[:2])) < wanted:
            problems.append(f'{package} {version} is too old')
            continue
        return importlib.import_module(module), f'{package} {version}'
    raise ImportError(
        'Compiling Python functions for the device needs numba-cuda '
        f'{_version(_COMPILERS["numba-cuda"][1])} or newer'
        + ''.join(f' ({p})' for p in problems)
        + ". Install it for your CUDA version: pip install 'numba-cuda[cu13]' "
        "or 'numba-cuda[cu12]'.")


def _version(numbers):
    return '.'.join(map(str, numbers))


def infer(function, argtypes, fastmath):
    """Compiles a Python function for the types of its arguments.

    Args:
        function (function): The Python function.
        argtypes (tuple): numba types.

    Returns:
        The numba type of its result.

    Raises:
        numba.core.errors.NumbaError: numba's own message, with the line of
            the user's function.
    """
    module, _ = compiler()
    with _compiling_for(module, _ANY):
        _, restype = module.compile(
            function, argtypes, device=True, abi='numba', fastmath=fastmath,
            cc=_ANY, output='ltoir')
    return restype


def entry(function, argtypes, restypes, symbol, cc, fastmath):
    """Compiles a function with an entry point that kernels call.

    The entry point takes a pointer for each argument that is a scalar, and
    for each result, so that there is one ABI for all types. Arrays are
    passed as numba passes them to kernels.

    Returns:
        list of bytes: LTO-IR that defines ``symbol`` and what it calls:
        float16 arithmetic is CUDA C++ that numba compiles beside it.
    """
    module, _ = compiler()
    body = _entry_point(module, function, argtypes, len(restypes))
    parameters = [t if isinstance(t, types.Array) else types.CPointer(t)
                  for t in (*argtypes, *restypes)]
    with _compiling_for(module, cc):
        codes, _ = module.compile_all(
            body, types.int32(*parameters), device=True, abi='c',
            abi_info={'abi_name': symbol}, cc=cc, fastmath=fastmath,
            output='ltoir')
    return [_as_bytes(c, function) for c in codes]


@contextlib.contextmanager
def _compiling_for(module, cc):
    """Answers numba's question for the compute capability.

    Where a function calls another, numba asks its own driver for it, which
    may not know the device that CuPy uses.
    """
    dispatcher = importlib.import_module(f'{module.__name__}.dispatcher')
    device = python_types.SimpleNamespace(compute_capability=cc)
    with _lock:
        original = dispatcher.get_current_device
        dispatcher.get_current_device = lambda: device
        try:
            yield
        finally:
            dispatcher.get_current_device = original


def _as_bytes(code, function):
    code = getattr(code, 'code', code)  # an ObjectCode of cuda.core
    if not isinstance(code, (bytes, bytearray)):
        raise TypeError(
            f'{function.__name__}() calls a function of another kind of file '
            f'than LTO-IR or CUDA C++ ({code!r}), which cannot be linked into '
            'a kernel of CuPy')
    return bytes(code)


def _entry_point(module, function, argtypes, nout):
    inputs = [f'x{i}' for i in range(len(argtypes))]
    outs = [f'y{i}' for i in range(nout)]
    values = ', '.join(
        x if isinstance(t, types.Array) else f'{x}[0]'
        for x, t in zip(inputs, argtypes))
    stores = (['y0[0] = result'] if nout == 1 else
              [f'{y}[0] = result[{i}]' for i, y in enumerate(outs)])
    lines = [f'def entry({", ".join(inputs + outs)}):',
             f'    result = function({values})',
             *(f'    {s}' for s in stores), '    return 0']
    scope = {'function': module.jit(device=True)(function)}
    exec('\n'.join(lines), scope)
    return scope['entry']
