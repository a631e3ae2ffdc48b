"""Digests of Python functions: equal digests compute the same.

Compiled functions are stored on disk under their digest, across processes.
So it covers all that numba compiles in: the bytecode, constants, the values
of globals and of the closure, and the functions that are called.
"""
from __future__ import annotations

import hashlib
import types

import numpy


class Unknown(Exception):
    """The function depends on something that has no digest."""


def of_function(function):
    """Returns the digest of a Python function.

    Args:
        function (function): The function.

    Returns:
        str: A hexadecimal digest, or None if there is none: such a function
        is compiled in each process.
    """
    try:
        text = repr(_Walk().function(function))
    except Unknown:
        return None
    return hashlib.sha256(text.encode()).hexdigest()


class _Walk:
    """Describes values as nested tuples of literals."""

    def __init__(self):
        self._seen = {}

    def function(self, function):
        if id(function) in self._seen:  # it calls itself
            return 'function', self._seen[id(function)]
        self._seen[id(function)] = len(self._seen)
        code = function.__code__
        return (
            'function', self._code(code), self._names(function, code),
            self.value(function.__defaults__ or ()),
            tuple(self._used(c.cell_contents, code)
                  for c in function.__closure__ or ()))

    def _code(self, code):
        return (
            code.co_code, code.co_flags, code.co_argcount,
            code.co_kwonlyargcount, code.co_varnames, code.co_names,
            code.co_freevars, code.co_cellvars,
            tuple(self._constant(c) for c in code.co_consts))

    def _constant(self, constant):
        if isinstance(constant, types.CodeType):
            return self._code(constant)
        return self.value(constant)

    def _names(self, function, code):
        """Describes the globals that the code and its inner code use."""
        scope = function.__globals__
        found = []
        for name in all_names(code):
            if name in scope:
                found.append((name, self._used(scope[name], code)))
        return tuple(found)

    def _used(self, value, code):
        if isinstance(value, types.ModuleType):
            return self._module(value, code)
        return self.value(value)

    def _module(self, module, code):
        """Describes a module by those of its attributes that are used."""
        return (module.__name__, getattr(module, '__version__', ''), tuple(
            (name, self._attribute(module, name, code))
            for name in all_names(code) if name in vars(module)))

    def _attribute(self, module, name, code):
        value = vars(module)[name]
        if isinstance(value, types.ModuleType):
            # numba.cuda.libdevice.sin: a package is known by its version.
            return value.__name__, getattr(value, '__version__', '')
        try:
            return self.value(value)
        except Unknown:
            package = module.__name__.partition('.')[0]
            if package in _COMPILER_KNOWS:
                return module.__name__, name
            raise

    def value(self, value):
        kind = type(value)
        if kind in (int, float, complex, bool, str, bytes, type(None),
                    type(Ellipsis)):
            return kind.__name__, repr(value)
        if kind in (tuple, frozenset):
            items = [self.value(v) for v in value]
            return kind.__name__, tuple(
                items if kind is tuple else sorted(items, key=repr))
        if isinstance(value, (numpy.generic, numpy.ndarray)):
            if value.dtype.hasobject:
                raise Unknown(value)
            return 'numpy', value.dtype.str, value.shape, value.tobytes()
        if isinstance(value, numpy.dtype):
            return 'dtype', value.str
        return self._callable(value)

    def _callable(self, value):
        if isinstance(value, types.FunctionType):
            return self.function(value)
        inner = getattr(value, 'py_func', None)  # a function of numba
        if isinstance(inner, types.FunctionType):
            return 'numba', self.function(inner)
        if isinstance(value, (types.BuiltinFunctionType, numpy.ufunc, type)):
            module = getattr(value, '__module__', None) or 'numpy'
            if module.partition('.')[0] in _COMPILER_KNOWS:
                return module, value.__name__
        raise Unknown(value)


# What comes from here is code of the compiler, whose version is in the key.
_COMPILER_KNOWS = {'builtins', 'math', 'cmath', 'operator', 'numpy', 'numba',
                   'numba_cuda_mlir'}


def all_names(code):
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(dict.fromkeys(all_names(constant)))
    return list(names)
