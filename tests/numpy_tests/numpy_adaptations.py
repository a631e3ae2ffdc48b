"""What NumPy's tests of overrides need to be tests of CuPy, and why.

Every test of the listed classes runs, unless it is in ``NOT_APPLICABLE``.
"""
from __future__ import annotations

import ast
import dataclasses
import importlib
import types

import cupy


@dataclasses.dataclass(frozen=True)
class Drop:
    """Leaves out statements of one test.

    ``first`` is part of the first statement that is left out. ``until`` is
    part of the statement after the last one; without it, one is left out.
    """

    test: str
    why: str
    first: str
    until: str | None = None

    def apply(self, tree):
        body = _function(tree, self.test).body
        start = _find(body, self.first, 0)
        stop = start + 1
        if self.until is not None:
            stop = _find(body, self.until, stop)
        del body[start:stop]


@dataclasses.dataclass(frozen=True)
class Replace:
    """Replaces an expression in one test."""

    test: str
    why: str
    old: str
    new: str

    def apply(self, tree):
        replacer = _Replacer(self.old, self.new)
        replacer.visit(_function(tree, self.test))
        if not replacer.found:
            raise LookupError(f'{self.test} has no {self.old}')


@dataclasses.dataclass(frozen=True)
class DropKey:
    """Leaves out one item of the dicts in one test."""

    test: str
    why: str
    key: str

    def apply(self, tree):
        for node in ast.walk(_function(tree, self.test)):
            if isinstance(node, ast.Dict):
                items = [(k, v) for k, v in zip(node.keys, node.values)
                         if ast.unparse(k) != repr(self.key)]
                node.keys = [k for k, _ in items]
                node.values = [v for _, v in items]


class _Replacer(ast.NodeTransformer):

    def __init__(self, old, new):
        self.old, self.new, self.found = old, new, False

    def generic_visit(self, node):
        if isinstance(node, ast.expr) and ast.unparse(node) == self.old:
            self.found = True
            return ast.parse(self.new, mode='eval').body
        return super().generic_visit(node)


def _function(tree, name):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise LookupError(f'there is no {name}')


def _find(body, text, start):
    for i in range(start, len(body)):
        if text in ast.unparse(body[i]):
            return i
    raise LookupError(f'no statement has {text}')


@dataclasses.dataclass(frozen=True)
class TestClass:
    """A class of NumPy's tests."""

    module: str
    name: str
    whole_module: bool = False


CLASSES = [
    TestClass('numpy._core.tests.test_umath', 'TestSpecialMethods'),
    TestClass('numpy._core.tests.test_multiarray', 'TestBinop'),
    TestClass('numpy.lib.tests.test_mixins', 'TestNDArrayOperatorsMixin',
              whole_module=True),
]

_WRAP = ('CuPy has no __array_wrap__ and no __array_priority__ of results: '
         'an output has the type of the first input that is a subclass')

NOT_APPLICABLE = {
    'test_wrap': _WRAP,
    'test_wrap_out': _WRAP,
    'test_wrap_with_iterable': _WRAP,
    'test_priority_with_scalar': _WRAP,
    'test_priority': _WRAP,
    'test_failing_wrap': _WRAP,
    'test_failing_out_wrap': _WRAP,
    'test_none_wrap': _WRAP,
    'test_default_prepare': _WRAP,
    'test_array_too_many_args': 'CuPy never calls __array__',
    'test_ufunc_docstring': 'cupy.ufunc has no __dict__',
    'test_ufunc_binop_bad_array_priority': 'needs arrays of dtype object',
    'test_scalar_binop_guarantees_ufunc':
        "operators of NumPy's scalars, which call NumPy's ufuncs",
    'test_pow_array_object_dtype': 'needs arrays of dtype object',
    'test_pow_calls_square_structured_dtype':
        'needs arrays of a structured dtype',
    'test_pos_array_ufunc_override': 'needs arrays of strings',
}

# The others are done when they have asked the override.
NEED_DEVICE = {
    'test_ufunc_override', 'test_ufunc_override_where',
    'test_ufunc_override_with_super', 'test_array_ufunc_direct_call',
    'test_inplace', 'test_ufunc_binop_interaction', 'test_array_ufunc_index',
    'test_out_override', 'test_array_like_add', 'test_opt_out',
    'test_subclass', 'test_object', 'test_unary_methods',
    'test_forward_binary_methods', 'test_reflected_binary_methods',
    'test_ufunc_at', 'test_ufunc_two_outputs',
}

NEED_CUBLAS = {'test_matmul'}


def has_cublas():
    try:
        importlib.import_module('cupy_backends.cuda.libs.cublas')
    except ImportError:
        return False
    return True


ADAPTATIONS = [
    Drop('test_ufunc_override_out',
         'CuPy accepts out=None also where there are several outputs',
         'np.modf(a, out=None)'),
    Drop('test_ufunc_override_with_super',
         'any() and max() of cupy.ndarray are no ufuncs and ask nobody',
         'a.any()', until='np.add.reduce(d, axis=1)'),
    Drop('test_array_ufunc_direct_call',
         'The base method declines what is neither a ufunc nor a method, '
         'instead of looking up its attribute',
         'a.__array_ufunc__(1, 2)'),
    Replace('test_ufunc_binop_interaction',
            'cupy.ndarray has no __imatmul__',
            '(np.matmul, True, float)', '(np.matmul, False, float)'),
    Replace('test_ufunc_binop_interaction',
            'The priority of cupy.ndarray is 100',
            'make_obj(object, array_priority=1)',
            'make_obj(object, array_priority=101)'),
]
if not has_cublas():
    ADAPTATIONS.append(DropKey(
        'test_ufunc_binop_interaction', 'matmul needs cuBLAS', 'matmul'))


def _all(x, where):
    # cupy.all has no keyword `where`.
    return cupy.all(x[where])


def _frompyfunc(func, nin, nout):
    # CuPy makes no ufunc of a Python function; what has as many inputs and
    # asks by the same rules is a kernel.
    names = 'abcdefgh'[:nin + nout]
    return cupy.ElementwiseKernel(
        ', '.join(f'T {x}' for x in names[:nin]),
        ', '.join(f'T {x}' for x in names[nin:]), '', func.__name__)


def _zeros_like(x):
    # cupy.zeros_like does not keep a subclass.
    return cupy.zeros_like(x).view(type(x))


STAND_INS = {
    'zeros_like': _zeros_like,
    'frompyfunc': _frompyfunc,
    'all': lambda x, where=...: _all(x, where),
    # Of its gufuncs CuPy has matmul only.
    ':ncu_tests': types.SimpleNamespace(inner1d=cupy.matmul),
}

# Tests that fail with CuPy: the error, part of its text and the reason.
DIFFERENCES = {
    'test_ufunc_at': (
        NotImplementedError, 'cupy_negative.at',
        'cupy.ufunc.at computes what there is an atomic operation for'),
}
