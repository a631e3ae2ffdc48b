"""numba's compiler behind a small interface: a Python function to LTO-IR.

Only the compiler is used, not numba's driver.
"""
from __future__ import annotations

import contextlib
import functools
import importlib
from importlib import metadata
import importlib.util
import threading
import types as python_types

from numba import types

# From this version on it compiles with all that a function calls.
_WANTED = (0, 22)

# Types do not depend on the compute capability.
_ANY = (8, 0)
_lock = threading.RLock()


@functools.cache
def version():
    """Returns what identifies the compiler's output.

    Raises:
        ImportError: The compiler is not installed, or too old.
    """
    try:
        found = metadata.version('numba-cuda')
    except metadata.PackageNotFoundError:
        problem = 'is not installed'
        if importlib.util.find_spec('numba_cuda_mlir'):
            problem += (' (numba-cuda-mlir cannot take its place: it does not '
                        'compile functions of pointers)')
    else:
        if tuple(map(int, found.split('.')[:2])) >= _WANTED:
            return f'numba-cuda {found}'
        problem = f'is {found} here'
    wanted = '.'.join(map(str, _WANTED))
    raise ImportError(
        'compiling Python functions for the device needs numba-cuda '
        f'{wanted} or newer, which {problem}. Install it for your CUDA '
        f"version: pip install 'numba-cuda[cu13]>={wanted}' or "
        f"'numba-cuda[cu12]>={wanted}'")


def _module():
    version()
    return importlib.import_module('numba.cuda')  # slow, so not above


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
    module = _module()
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
    module = _module()
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
