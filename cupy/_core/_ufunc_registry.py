"""Which NumPy or SciPy ufunc corresponds to which of CuPy's, by identity.

Names are no guide: ``cupy.divide`` is named ``cupy_true_divide``, and
``ellipk`` and ``ellipkm1`` carry each other's name. So the public
namespaces are walked once, and attribute ``X`` of a CuPy module corresponds
to attribute ``X`` of its model.
"""
from __future__ import annotations

import importlib
import sys

import numpy


# CuPy namespace -> its model. The order matters for objects that two of
# them export: the first one wins.
_MODELS = {
    'cupy': 'numpy',
    'cupyx.scipy.special': 'scipy.special',
    'cupyx': None,
}

# Where one CuPy ufunc has two names that are different ufuncs in NumPy,
# overrides receive the one that NumPy itself defines the other by.
_PREFERRED = ('deg2rad', 'rad2deg')

_scanned: set[str] = set()
# CuPy callable -> (model module, attribute), or None without a model.
_public: dict[object, tuple[str, str] | None] = {}
resolved: dict[object, object] = {}
_from_model: dict[object, object] = {}


def register(func):
    """Lets overrides be asked for ``func``, and hands it over as it is.

    A ufunc that is no attribute of a public namespace does not dispatch
    unless it is registered.
    """
    _public.setdefault(func, None)
    return func


def counterpart(func):
    """Returns what ``__array_ufunc__`` receives for ``func``.

    Returns:
        The NumPy or SciPy ufunc; ``func`` itself if it is public and has
        none, or SciPy is not installed; None for an internal ufunc.
    """
    found = resolved.get(func)
    if found is not None:
        return found
    if func not in _public:
        _scan()
        if func not in _public:
            return None
    found = resolved[func] = _resolve(func)
    return found


def from_counterpart(func):
    """Returns the CuPy callable that stands for ``func``, or None.

    Args:
        func: A NumPy or SciPy ufunc, or a public callable of CuPy, which
            stands for itself.
    """
    if func in _public:
        return func
    if func not in _from_model:
        _scan()
        _map_models()
    if func in _public:
        return func
    return _from_model.get(func)


def place(func):
    """Returns the module and the name of a public callable, or None."""
    _scan()
    for module in filter(sys.modules.get, _MODELS):
        for name, value in vars(sys.modules[module]).items():
            if value is func:
                return module, name
    return None


def _resolve(func):
    model = _public[func]
    if model is None:
        return func
    try:
        module = importlib.import_module(model[0])
    except ImportError:
        return func
    found = getattr(module, model[1], None)
    return found if isinstance(found, numpy.ufunc) else func


def _scan():
    for name in _MODELS:
        module = sys.modules.get(name)
        if name in _scanned or module is None or initializing(module):
            continue
        _scanned.add(name)
        _scan_module(module, _MODELS[name])


def initializing(module):
    """Whether a module is still being filled: look at it another time."""
    return getattr(module.__spec__, '_initializing', False)


def _scan_module(module, model):
    names = sorted(vars(module), key=lambda n: (n not in _PREFERRED, n))
    for name in names:
        func = getattr(module, name)
        if _is_callable_kind(func):
            _public.setdefault(func, (model, name) if model else None)


def _is_callable_kind(func):
    from cupy._core import _gufuncs
    from cupy._core import _kernel
    return isinstance(func, (_kernel.ufunc, _gufuncs._GUFunc))


def _map_models():
    """Fills the map from the models' ufuncs to CuPy's.

    SciPy is not imported for it: who has one of its ufuncs has it loaded.
    """
    for name, model in _MODELS.items():
        source = sys.modules.get(name)
        target = sys.modules.get(model) if model else None
        if source is None or target is None:
            continue
        for attr, func in list(vars(source).items()):
            found = getattr(target, attr, None)
            if _is_callable_kind(func) and isinstance(found, numpy.ufunc):
                _from_model.setdefault(found, func)
