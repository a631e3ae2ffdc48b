"""Compilers of Python functions to LTO-IR behind a small interface.

Only the compilers are used, not their drivers.
"""
from __future__ import annotations

import functools
import importlib
from importlib import metadata
import importlib.util
import re
import threading


class Compiler:
    """A package that compiles Python functions for the device.

    Subclasses say which package it is, what is called in it, and how a
    kernel of CUDA C++ passes arguments to a function of its C ABI.

    Attributes:
        package (str): Name on PyPI.
        oldest (str): First version that serves.
        module (str): Where ``jit`` and ``compile`` are.
        dialect (str): Package that types and signatures come from.
        types (module): Its types.
    """

    package = ''
    oldest = ''
    module = ''
    dialect = ''

    # Types do not depend on the compute capability.
    _any_cc = (8, 0)
    _lock = threading.RLock()

    def problem(self):
        """Returns why the compiler cannot be used, or None."""
        try:
            found = metadata.version(self.package)
        except metadata.PackageNotFoundError:
            return 'is not installed'
        if _numbers(found) < _numbers(self.oldest):
            return f'is {found} here'
        root = self.dialect.partition('.')[0]
        if importlib.util.find_spec(root) is None:
            return f'needs {root}, which is not installed'
        return None

    @functools.cached_property
    def version(self):
        """What identifies the compiler's output."""
        return f'{self.package} {metadata.version(self.package)}'

    def part(self, name):
        """Imports a module of the dialect."""
        return importlib.import_module(f'{self.dialect}.{name}')

    @property
    def types(self):
        raise NotImplementedError

    def infer(self, function, argtypes, fastmath):
        """Compiles a Python function for the types of its arguments.

        Args:
            function (function): The Python function.
            argtypes (tuple): Types of the compiler.

        Returns:
            The type of its result.

        Raises:
            NumbaError: The compiler's own message, with the line of the
                user's function.
        """
        with self._lock:
            return self._infer(function, argtypes, fastmath)

    def entry(self, function, argtypes, restypes, symbol, cc, fastmath):
        """Compiles a function with an entry point that kernels call.

        The entry point takes an array of one element for each argument that
        is a scalar, and for each result, so that there is one ABI for all
        types: compilers pass complex numbers, small integers and bools in
        different ways. It returns an int.

        Returns:
            list of bytes: LTO-IR that defines ``symbol`` and what it calls.
        """
        body = self._entry_point(function, argtypes, len(restypes))
        array = self.types.Array
        parameters = [t if isinstance(t, array) else array(t, 1, 'C')
                      for t in (*argtypes, *restypes)]
        with self._lock:
            return self._compile(
                body, self.types.int32(*parameters), symbol, cc, fastmath)

    def _entry_point(self, function, argtypes, nout):
        inputs = [f'x{i}' for i in range(len(argtypes))]
        outs = [f'y{i}' for i in range(nout)]
        values = ', '.join(
            x if isinstance(t, self.types.Array) else f'{x}[0]'
            for x, t in zip(inputs, argtypes))
        stores = (['y0[0] = result'] if nout == 1 else
                  [f'{y}[0] = result[{i}]' for i, y in enumerate(outs)])
        lines = [f'def entry({", ".join(inputs + outs)}):',
                 f'    result = function({values})',
                 *(f'    {s}' for s in stores), '    return 0']
        cuda = importlib.import_module(self.module)
        scope = {'function': cuda.jit(device=True)(function)}
        exec('\n'.join(lines), scope)
        return scope['entry']

    def pass_scalar(self, c_type, pointer, itemsize):
        """Returns the C parameters, types and values, of one element."""
        return self.pass_array(
            c_type, pointer, ['1'], [str(itemsize)], itemsize)

    # What a compiler has of its own.

    def _infer(self, function, argtypes, fastmath):
        raise NotImplementedError

    def _compile(self, function, signature, symbol, cc, fastmath):
        raise NotImplementedError

    def pass_array(self, c_type, data, sizes, strides, itemsize):
        """Returns the C parameters, types and values, of an array.

        Args:
            c_type (str): Type of the elements.
            data (str): Pointer to the first one, an expression of C.
            sizes (list of str): Shape.
            strides (list of str): Bytes, which are whole elements.
            itemsize (int): Bytes of an element.
        """
        raise NotImplementedError


def _numbers(version):
    return tuple(map(int, re.findall(r'\d+', version)[:2]))
