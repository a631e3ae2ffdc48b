"""Takes tests from the installed NumPy and lets CuPy stand in for it.

The source is read where NumPy was installed; nothing of it is kept here.
``numpy_adaptations`` lists what has to be different for CuPy and why.
"""
from __future__ import annotations

import ast
import importlib.util
import pathlib
import types

import numpy

import cupy
from cupy._core import _ufunc_registry

_HOST = ('assert_equal', 'assert_array_equal', 'assert_almost_equal',
         'assert_array_almost_equal')


def path(module):
    """Returns the source file of a module of NumPy, or None."""
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return pathlib.Path(found.origin) if found else None


def tests_of(module, cls):
    """Returns the names of the tests of a class, in their order."""
    for node in ast.parse(path(module).read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name == cls:
            return [x.name for x in node.body
                    if isinstance(x, ast.FunctionDef)
                    and x.name.startswith('test_')]
    return []


def load(module, cls, adaptations=(), whole_module=False, stand_ins=None):
    """Returns an instance of a test class that tests CuPy.

    Args:
        module (str): Module of NumPy, e.g. ``numpy._core.tests.test_umath``.
        cls (str): Name of the class.
        adaptations: Changes of its code.
        whole_module (bool): Whether the class needs the rest of the module.
            Otherwise only the imports are taken.
        stand_ins (dict): Attributes of ``np`` that are neither CuPy's nor
            NumPy's, and global names (with a ``:`` in front).
    """
    file = path(module)
    tree = ast.parse(file.read_text(), str(file))
    tree.body = [x for x in tree.body if _is_wanted(x, cls, whole_module)]
    _strip_marks(tree)
    for adaptation in adaptations:
        adaptation.apply(tree)
    space = {'__name__': f'cupy_of_{module}'}
    imports = [x for x in tree.body if _is_import(x)]
    rest = [x for x in tree.body if not _is_import(x)]
    _execute(imports, file, space)
    _replace_names(space, stand_ins or {})
    _execute(rest, file, space)
    return space[cls]()


def _is_import(node):
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _is_wanted(node, cls, whole_module):
    return (whole_module or _is_import(node)
            or isinstance(node, ast.ClassDef) and node.name == cls)


def _strip_marks(tree):
    # NumPy's marks are unknown here; who runs a test decides without them.
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [
                x for x in node.decorator_list
                if not ast.unparse(x).startswith('pytest.mark')]


def _execute(nodes, file, space):
    module = ast.Module(nodes, type_ignores=[])
    exec(compile(ast.fix_missing_locations(module), str(file), 'exec'), space)


def _replace_names(space, stand_ins):
    space['np'] = StandIn(
        {k: v for k, v in stand_ins.items() if k[0] != ':'})
    space.update({k[1:]: v for k, v in stand_ins.items() if k[0] == ':'})
    for name in _HOST:
        if name in space:
            space[name] = _comparing_on_host(space[name])


class StandIn:
    """Takes the place of ``np``: CuPy, and NumPy for what CuPy lacks."""

    def __init__(self, stand_ins):
        self._stand_ins = stand_ins

    def __getattr__(self, name):
        if name in self._stand_ins:
            return self._stand_ins[name]
        if hasattr(numpy, name) and hasattr(cupy, name) and not isinstance(
                getattr(numpy, name), types.ModuleType):
            return getattr(cupy, name)
        return getattr(numpy, name)


def _comparing_on_host(assertion):
    def compare(actual, desired, *args, **kwargs):
        return assertion(
            _on_host(actual), _expected(_on_host(desired)), *args, **kwargs)
    return compare


def _on_host(x):
    # numpy.testing would convert arrays of the device implicitly.
    if isinstance(x, cupy.ndarray):
        return x.view(cupy.ndarray).get()
    if type(x) in (tuple, list):
        return type(x)([_on_host(y) for y in x])
    if type(x) is dict:
        return {k: _on_host(v) for k, v in x.items()}
    return x


def _expected(x):
    # What is expected to reach an override is NumPy's ufunc.
    if isinstance(x, (cupy.ufunc, type(cupy.matmul))):
        return _ufunc_registry.counterpart(x)
    return x
