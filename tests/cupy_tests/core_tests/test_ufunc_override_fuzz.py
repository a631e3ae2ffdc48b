"""Random calls on NumPy and on CuPy ask the same operands the same way.

Hypothesis draws a class hierarchy with overrides of all kinds and one call
of a ufunc. The call is made in two *worlds*, NumPy's and CuPy's, that build
the same classes and operands, and the *traces* are compared: who was asked,
in which order, with what, and what came of it.

Nothing here is computed on a device: the arrays have no elements. Where
nobody overrides, the only thing compared is that nobody was asked.

CuPy differs from NumPy by decision in a few places. Each is a function
here, named ``decided_...``, whose docstring tells the reason.

``CUPY_FUZZ_EXAMPLES`` sets the number of calls.
"""
from __future__ import annotations

import dataclasses
import functools
import os
import re
import warnings

import hypothesis
from hypothesis import strategies as st
import numpy

import cupy
import cupyx.scipy.special

_EXAMPLES = os.environ.get('CUPY_FUZZ_EXAMPLES')
hypothesis.settings.register_profile(
    'ufunc-override', deadline=None, database=None, print_blob=True,
    max_examples=int(_EXAMPLES or 2000),
    derandomize=_EXAMPLES is None,  # the same calls in each run of CI
    suppress_health_check=[hypothesis.HealthCheck.too_slow])
PROFILE = hypothesis.settings.get_profile('ufunc-override')


# What is called
# --------------

@dataclasses.dataclass(frozen=True)
class Function:
    """A ufunc or kernel in both worlds."""

    kind: str  # 'ufunc', 'gufunc' or 'kernel'
    numpy: numpy.ufunc
    cupy: object


def _kernel(nin, nout):
    name = f'kernel_{nin}_{nout}'
    params = [f'T {c}' for c in 'abcdefgh'[:nin + nout]]
    return Function(
        'kernel', numpy.frompyfunc(lambda *args: args[:nout], nin, nout),
        cupy.ElementwiseKernel(
            ', '.join(params[:nin]), ', '.join(params[nin:]), '', name))


FUNCTIONS = {
    name: Function('ufunc', getattr(numpy, name), getattr(cupy, name))
    for name in ('add', 'multiply', 'subtract', 'maximum', 'power', 'equal',
                 'negative', 'sin', 'divmod', 'modf', 'frexp')}
FUNCTIONS['matmul'] = Function('gufunc', numpy.matmul, cupy.matmul)
FUNCTIONS['kernel_4_1'] = _kernel(4, 1)
FUNCTIONS['kernel_2_2'] = _kernel(2, 2)
try:
    import scipy.special
except ImportError:
    pass
else:
    FUNCTIONS['betainc'] = Function(
        'ufunc', scipy.special.betainc, cupyx.scipy.special.betainc)

METHODS = ['__call__', 'outer', 'at', 'reduce', 'accumulate', 'reduceat']

# Names of the positional arguments.
NAMES = {
    'at': ['a', 'indices', 'b'],
    'reduce': ['array', 'axis', 'dtype', 'out', 'keepdims', 'initial',
               'where'],
    'accumulate': ['array', 'axis', 'dtype', 'out'],
    'reduceat': ['array', 'indices', 'axis', 'dtype', 'out'],
}
OPERANDS = ['array', 'indices', 'out', 'where', '_where', 'a', 'b']
KEYWORDS = {
    'ufunc': ['out', 'where', '_where', 'casting', 'order', 'subok', 'dtype',
              'signature', 'sig'],
    'gufunc': ['out', 'axes', 'axis', 'keepdims', 'casting', 'order', 'subok',
               'dtype', 'signature', 'sig'],
    'kernel': ['out'],
}


# Cases
# -----

@dataclasses.dataclass(frozen=True)
class Spec:
    """One class.

    ``base`` is the index of an earlier class or a key of ``World.bases``;
    ``claims`` is a class that counts as subclass for ``isinstance``.
    """

    base: int | str
    behaviour: str
    cuda: bool = False
    convertible: bool = False
    claims: int | None = None


@dataclasses.dataclass(frozen=True)
class Atom:
    """An argument, the same object wherever it occurs in a call."""

    kind: str
    value: object = None
    number: int = 0


@dataclasses.dataclass(frozen=True)
class Call:
    name: str
    method: str
    args: tuple[Atom, ...]
    kwargs: tuple[tuple[str, Atom], ...]

    @property
    def function(self):
        return FUNCTIONS[self.name]

    def get(self, key):
        return dict(self.kwargs).get(key)

    def without(self, *keys):
        return dataclasses.replace(self, kwargs=tuple(
            (k, v) for k, v in self.kwargs if k not in keys))


BEHAVIOURS = {
    'accept': 8,     # returns an answer
    'decline': 9,    # returns NotImplemented
    'inherit': 3,    # defines nothing
    'fail': 1,       # raises
    'opt out': 1,    # None
    'default': 1,    # cupy.ndarray's or numpy.ndarray's
    'host default': 1,
    'spoil': 1,      # changes its keywords and declines
    'nothing': 1,    # returns None
    'again': 2,      # replaces its operands and calls the ufunc
    'base': 1,       # calls the base method without replacing
    'static': 1,     # a static method that accepts
    'class': 1,      # a class method that accepts
    'property': 1,   # what is found on the type cannot be called
    'not callable': 1,
    'no lookup': 1,  # looking it up raises
    'no attribute': 1,  # looking it up raises AttributeError
}
_CUDA = ['accept', 'decline', 'fail', 'opt out', 'nothing', 'spoil']
_BASES = ['object', 'object', 'array', 'array', 'host', 'int', 'int64']
_VALUES = [None, 0, 1, 2.5, True, 'text', b'bytes', ...]
_JUNK = [None, None, True, False, 0, 1, 'd', 'no value', ...]


# Strategies are kept: to make one takes longer than to draw from it.
@functools.lru_cache(maxsize=None, typed=True)
def _choice(*values):
    return st.sampled_from(values)


@functools.cache
def _subset(*values):
    return st.lists(_choice(*values), unique=True, max_size=4)


def _rarely(draw, n):
    """True once in ``n`` times."""
    return draw(_choice(*[False] * (n - 1), True))


def _weighted(**weights):
    return _choice(*(x for x, n in weights.items() for _ in range(n)))


def _cached(strategy):
    return functools.cache(st.composite(strategy))


@_cached
def specs(draw):
    """A class hierarchy."""
    found = []
    for i in range(draw(st.integers(1, 5))):
        earlier = list(range(i))
        base = draw(_choice(*_BASES, *earlier * 2))
        behaviour = draw(_weighted(**BEHAVIOURS))
        cuda = behaviour in _CUDA and _rarely(draw, 6)
        convertible = _rarely(draw, 6)
        claims = draw(_choice(*earlier)) if i and _rarely(draw, 10) else None
        found.append(Spec(base, behaviour, cuda, convertible, claims))
    return tuple(found)


@_cached
def operands(draw, n_classes):
    kind = draw(_weighted(
        instance=12, array=2, value=2, host=1, object=1, nested=1))
    if kind in ('instance', 'nested'):
        # Numbers 2 and 3 have an instance attribute, which is no override.
        return Atom(kind, draw(_choice(*range(n_classes))),
                    draw(_choice(0, 0, 0, 1, 2, 3)))
    if kind == 'value':
        return Atom(kind, draw(_choice(*_VALUES)))
    return Atom(kind)


@_cached
def junk(draw, n_classes):
    """The value of an argument that is no operand."""
    if _rarely(draw, 16):
        return draw(operands(n_classes))
    return Atom('value', draw(_choice(*_JUNK)))


@_cached
def outputs(draw, n_classes, nout):
    """The value of the keyword ``out``."""
    one = operands(n_classes) | st.just(Atom('value', None))
    kind = draw(_choice(
        *['one'] * (3 if nout == 1 else 1), *['tuple'] * 4, 'value', 'value',
        'tuple subclass', 'list'))
    if kind == 'one':
        return draw(operands(n_classes))
    if kind == 'value':
        return Atom(kind, draw(_choice(None, ...)))
    n = draw(_choice(*[nout] * 9, 0, 1, 2, 3))
    return Atom(kind, tuple(draw(one) for _ in range(n)))


@_cached
def keywords(draw, n_classes, function, method):
    usual = NAMES.get(method) or KEYWORDS[function.kind]
    rare = ['foo', 'array', 'indices', 'where', 'keepdims', 'sig', 'b']
    keys = draw(_subset(*usual))
    if _rarely(draw, 20):
        keys.append(draw(_choice(*rare)))
    return tuple(
        (key, draw(_argument(n_classes, key, function.numpy.nout)))
        for key in dict.fromkeys(keys))


def _argument(n_classes, name, nout):
    if name == 'out':
        return outputs(n_classes, nout)
    if name in OPERANDS:
        return operands(n_classes)
    return junk(n_classes)


@_cached
def positionals(draw, n_classes, function, method):
    nin, nout = function.numpy.nin, function.numpy.nout
    off = draw(_choice(*[0] * 20, -1, 1))
    if method == '__call__':
        n = nin + off + draw(_choice(0, 0, 0, 0, 1, nout))
    elif method == 'outer':
        n = 2 + off
    elif method == 'at':
        n = nin + 1 + off
    else:
        names = NAMES[method]
        first = names.index('axis')
        n = draw(_choice(*[first] * 3, *range(len(names) + 1)))
        return tuple(draw(_argument(n_classes, x, 1))
                     for x in names[:n] + ['foo'] * (n == len(names) and off))
    return tuple(draw(operands(n_classes)) for _ in range(max(n, 0)))


@_cached
def calls(draw, n_classes, names=tuple(FUNCTIONS)):
    name = draw(_choice(*names))
    function = FUNCTIONS[name]
    method = '__call__'
    # Most methods are for binary ufuncs.
    binary = function.numpy.nin == 2 and function.numpy.nout == 1
    if function.kind == 'ufunc' and not _rarely(draw, 5 if binary else 2):
        method = draw(_choice(*METHODS))
    args = draw(positionals(n_classes, function, method))
    given = NAMES.get(method, [])[:len(args)]
    kwargs = [(k, v) for k, v in
              draw(keywords(n_classes, function, method))
              if k not in given or _rarely(draw, 20)]
    # Inputs by keyword, where the positional ones are not enough.
    for key in NAMES.get(method, [])[len(args):1 + (method != 'reduce')]:
        if key not in dict(kwargs) and key in OPERANDS:
            kwargs.append((key, draw(operands(n_classes))))
    return Call(name, method, args, tuple(kwargs))


@_cached
def cases(draw):
    found = draw(specs())
    return found, draw(calls(len(found)))


# Worlds
# ------

class Meta(type):

    claimed = None

    def __instancecheck__(cls, x):
        if type(x).__name__ == cls.__dict__.get('claimed'):
            return True
        return super().__instancecheck__(x)


class LookupFailed(Exception):
    pass


class OverrideFailed(Exception):
    pass


class AskedWrongly(BaseException):
    """An attribute was used that is no override."""


class Answer:
    pass


# The outcome where no override decided.
COMPUTED = 'computed',


class TupleSubclass(tuple):
    pass


class NoAttribute:

    def __init__(self, error):
        self.error = error

    def __get__(self, obj, cls=None):
        raise self.error('lookup')


def _no_memory(self):
    raise RuntimeError('has no memory')


def empty_array(cls):
    """An array without elements, also where there is no device."""
    if not issubclass(cls, cupy.ndarray) or cupy.cuda.is_available():
        return cls((0,))
    memory = cupy.cuda.UnownedMemory(4096, 1024, None, 0)
    return cls((0,), memptr=cupy.cuda.MemoryPointer(memory, 0))


class World:
    """One library with the classes and operands of one case."""

    def __init__(self, xp, specs):
        self.xp = xp
        self.specs = specs
        self.bases = {'object': object, 'array': xp.ndarray,
                      'host': numpy.ndarray, 'int': int,
                      'int64': numpy.int64}
        self.classes = []
        for i, spec in enumerate(specs):
            self.classes.append(self._class(i, spec))
        self.atoms = {}
        self.log = []
        self.answer = object()
        self.again = False

    # Classes

    def root(self, i):
        base = self.specs[i].base
        return self.root(base) if isinstance(base, int) else base

    def lineage(self, i):
        """The class and its bases among the drawn ones."""
        base = self.specs[i].base
        return [i] + (self.lineage(base) if isinstance(base, int) else [])

    def _class(self, i, spec):
        base = spec.base
        base = self.classes[base] if isinstance(base, int) else (
            self.bases[base])
        # A keyword is compared with its values: that is to ask nobody.
        body = {'__repr__': lambda x: f'<a {type(x).__name__}>',
                '__eq__': lambda x, y: x is y,
                '__hash__': lambda x: id(x)}
        if spec.claims is not None:
            body['claimed'] = f'C{spec.claims}'
        if spec.convertible:
            body['__cuda_array_interface__'] = property(_no_memory)
        if spec.behaviour != 'inherit':
            self._define(body, i, spec)
        return Meta(f'C{i}', (base,), body)

    def _define(self, body, i, spec):
        override = self._override(i, spec)
        if self.xp is not numpy and spec.cuda:
            body['__cuda_array_ufunc__'] = override
            # It is asked instead of the other protocol.
            body['__array_ufunc__'] = _must_not_be_asked
        elif not self._is_cuda(i) or spec.cuda:
            body['__array_ufunc__'] = override
        elif self.xp is not numpy:
            body['__array_ufunc__'] = override  # hidden by the base's

    def _is_cuda(self, i):
        return any(self.specs[j].cuda for j in self.lineage(i))

    def _override(self, i, spec):
        behaviour = spec.behaviour
        if behaviour == 'opt out':
            return None
        if behaviour == 'default':
            return self.xp.ndarray.__array_ufunc__
        if behaviour == 'host default':
            return numpy.ndarray.__array_ufunc__
        if behaviour == 'not callable':
            return 3
        if behaviour == 'property':
            return property(lambda self: None)
        if behaviour == 'no lookup':
            return decided_lookup_errors_are_raised(self.xp)
        if behaviour == 'no attribute':
            return NoAttribute(AttributeError)
        method = self._method(i, behaviour)
        if behaviour == 'static':
            return staticmethod(method)
        if behaviour == 'class':
            return classmethod(lambda cls, *args, **kw: method(*args, **kw))
        return method

    def _method(self, i, behaviour):
        def __array_ufunc__(obj, ufunc, method, *inputs, **kwargs):
            kwargs = decided_inputs_are_no_keywords(method, kwargs)
            self.log.append((
                f'C{i}', self.symbol(obj), self._expected(i, ufunc), method,
                [self.symbol(x) for x in inputs],
                [(k, self.symbol(v)) for k, v in kwargs.items()]))
            return self._answer(
                behaviour, obj, ufunc, method, inputs, kwargs)
        return __array_ufunc__

    def _expected(self, i, ufunc):
        # Whether the override receives the right callable.
        function = self.function
        if self.xp is numpy:
            return ufunc is function.numpy
        if self.specs[i].cuda or function.kind == 'kernel':
            return ufunc is function.cupy
        return ufunc is function.numpy

    def _answer(self, behaviour, obj, ufunc, method, inputs, kwargs):
        if behaviour == 'fail':
            raise OverrideFailed
        if behaviour == 'nothing':
            self.answer = None
            return None
        if behaviour == 'spoil':
            kwargs.clear()
        if behaviour in ('spoil', 'decline'):
            return NotImplemented
        if behaviour == 'base':
            return self._base_method(obj, ufunc, method, inputs, kwargs)
        if behaviour == 'again' and not self._is_for_cuda():
            self.again = True
            return self._again(type(obj), ufunc, method, inputs, kwargs)
        self.answer = Answer()
        return self.answer

    def _base_method(self, obj, ufunc, method, inputs, kwargs):
        for base in (self.xp.ndarray, numpy.ndarray):
            if isinstance(obj, base):
                return base.__array_ufunc__(
                    obj, ufunc, method, *inputs, **kwargs)
        return NotImplemented

    def _again(self, cls, ufunc, method, inputs, kwargs):
        def replace(x, by):
            return by if type(x) is cls else x

        inputs = [replace(x, 1) for x in inputs]
        if 'out' in kwargs:
            kwargs['out'] = tuple(replace(x, None) for x in kwargs['out'])
        if 'where' in kwargs:
            kwargs['where'] = replace(kwargs['where'], True)
        return getattr(ufunc, method)(*inputs, **kwargs)

    def _is_for_cuda(self):
        # NumPy knows neither kernels nor the CUDA variant of the protocol.
        return (self.function.kind == 'kernel'
                or any(spec.cuda for spec in self.specs))

    # Operands

    def build(self, atom):
        if atom.kind == 'value':
            return (numpy._NoValue if atom.value == 'no value'
                    else atom.value)
        if atom not in self.atoms:
            self.atoms[atom] = self._build(atom)
        return self.atoms[atom]

    def _build(self, atom):
        if atom.kind == 'instance':
            return self._instance(atom)
        if atom.kind == 'nested':
            return [self.build(dataclasses.replace(atom, kind='instance'))]
        if atom.kind == 'array':
            return empty_array(self.xp.ndarray)
        if atom.kind == 'host':
            return empty_array(numpy.ndarray)
        if atom.kind == 'object':
            return object()
        kind = {'list': list, 'tuple': tuple,
                'tuple subclass': TupleSubclass}[atom.kind]
        return kind([self.build(x) for x in atom.value])

    def _instance(self, atom):
        cls, root = self.classes[atom.value], self.root(atom.value)
        if root in ('array', 'host'):
            x = empty_array(cls)
        elif root == 'object':
            x = cls()
        else:
            x = cls(1)
        if atom.number == 2:
            vars(x)['__array_ufunc__'] = None
        if atom.number == 3:
            vars(x)['__array_ufunc__'] = _must_not_be_asked
        return x

    def symbol(self, x):
        """Names an argument of an override, the same in both worlds."""
        for atom, known in self.atoms.items():
            if known is x:
                return atom
        if type(x) is tuple:
            return 'tuple', [self.symbol(y) for y in x]
        return type(x).__name__, repr(x)

    # Calls

    def run(self, call):
        """Makes the call; returns the log and the outcome."""
        self.function = call.function
        self.twice = call.method != 'at' and (
            call.get('array') or call.get('indices'))
        func = getattr(self.function, self.xp.__name__)
        if call.method != '__call__':
            func = getattr(func, call.method)
        args = [self.build(x) for x in call.args]
        kwargs = {k: self.build(v) for k, v in call.kwargs}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                result = func(*args, **kwargs)
        except Exception as e:
            return self.log, self._error(e)
        if self.log and result is self.answer:
            return self.log, ('answer',)
        return self.log, COMPUTED

    def _error(self, e):
        text = str(e)
        if 'does not support ufuncs' in text:
            return 'opts out', text.split("'")[1]
        if 'returned NotImplemented' in text:
            return 'declined', self._declined(text)
        return 'error', type(e)

    def _declined(self, text):
        # The text of an array differs: the device is not touched for it.
        # NumPy's names inputs twice (decided_inputs_are_no_keywords).
        if self.twice or any(
                isinstance(x, (numpy.ndarray, cupy.ndarray))
                or hasattr(type(x), '__cuda_array_interface__')
                for x in self.atoms.values()):
            return re.sub(r'\(.*\)', '(...)', text, flags=re.DOTALL)
        if self.function.kind == 'kernel':
            func = getattr(self.function, self.xp.__name__)
            text = text.replace(repr(func), 'kernel')
        return re.sub('0x[0-9a-f]+', '0x', text)


def _must_not_be_asked(*args, **kwargs):
    raise AskedWrongly


# Decisions
# ---------

def decided_lookup_errors_are_raised(xp):
    """An error of the lookup on the type is raised, not swallowed.

    NumPy takes the operand as one without override, which hides the error,
    and means to change that. As its twin in NumPy's world serves a class
    that opts out, since both raise at the same point.
    """
    return None if xp is numpy else NoAttribute(LookupFailed)


def decided_inputs_are_no_keywords(method, kwargs):
    """``reduce(array=x)`` hands ``x`` over as input only.

    NumPy hands it over as the keyword, too; so the override that calls
    the method again gets a TypeError.
    """
    if method in ('reduce', 'accumulate', 'reduceat'):
        kwargs = {k: v for k, v in kwargs.items()
                  if k not in ('array', 'indices')}
    return kwargs


def decided_where_has_a_former_name(call):
    """``_where`` is CuPy's former name of ``where``; None is not given."""
    if call.function.kind != 'ufunc' or call.method not in (
            '__call__', 'outer') or call.get('where') is not None:
        return call
    if call.get('_where') == Atom('value', None):
        return call.without('_where')
    where = tuple(('where', v) for k, v in call.kwargs if k == '_where')
    call = call.without('_where')
    return dataclasses.replace(call, kwargs=call.kwargs + where)


def decided_none_is_no_output(call):
    """``divmod(x, y, out=None)`` is a call without output.

    CuPy has always accepted it; NumPy asks for a tuple.
    """
    if call.get('out') not in (Atom('value', None), Atom('value', ...)):
        return call
    function = call.function.numpy
    if function.nout == 1 or len(call.args) > function.nin:
        return call
    return call.without('out')


def decided_at_takes_keywords(call):
    """``at(a=..., indices=..., b=...)`` is accepted as CuPy has done.

    NumPy's ``at`` takes no keywords.
    """
    names = NAMES['at'][len(call.args):len(call.args) + len(call.kwargs)]
    if call.method == 'at' and (
            call.function.numpy.nin > 2 or call.function.numpy.nout > 1):
        return dataclasses.replace(call, kwargs=())  # fails for that reason
    if call.method != 'at' or {k for k, _ in call.kwargs} != set(names):
        return call
    return dataclasses.replace(
        call, kwargs=(), args=call.args + tuple(map(call.get, names)))


def decided_kernels_are_stricter(call):
    """An ElementwiseKernel takes all outputs by position or none.

    It has no other keyword of a ufunc than ``out``.
    """
    function = call.function.numpy
    if call.function.kind == 'kernel' and (
            len(call.args) not in (function.nin, function.nargs)
            or {k for k, _ in call.kwargs} - {'out'}):
        return dataclasses.replace(call, args=(), kwargs=())  # TypeError
    return call


def decided_data_on_the_device_is_converted(world, log, outcome):
    """Who declines is converted if all who do have data on the device.

    NumPy raises. CuPy has always computed on objects with
    ``__cuda_array_interface__``, whatever their ``__array_ufunc__``.
    """
    if outcome[0] == 'declined' and not world.again and all(
            _converts(world, operand.value) for _, operand, *_ in log):
        return COMPUTED
    return outcome


def _converts(world, i):
    return world.root(i) != 'array' and any(
        world.specs[j].convertible for j in world.lineage(i))


def decided_the_default_is_an_arrays(specs):
    """A class that borrows ``cupy.ndarray.__array_ufunc__`` and is no array.

    CuPy takes it as one without override, as NumPy does with its own method.
    An override that calls the ufunc again calls NumPy's, though, to which
    that method is an override like any other; so these are not combined.
    """
    behaviours = {x.behaviour for x in specs}
    return not ('again' in behaviours and any(
        x.behaviour == 'default' and x.base not in ('array', 'host')
        for x in specs))


def for_numpy(call):
    """The call that NumPy has to treat as CuPy treats ``call``."""
    for decide in (decided_where_has_a_former_name, decided_none_is_no_output,
                   decided_at_takes_keywords, decided_kernels_are_stricter):
        call = decide(call)
    return call


# Comparison
# ----------

def examined(call):
    """The arguments that NEP 13 calls operands."""
    names = NAMES.get(call.method)
    found = [x for i, x in enumerate(call.args)
             if names is None or names[i:i + 1] and names[i] in OPERANDS]
    known = OPERANDS if names else ('out', 'where', '_where')
    found += [x for k, x in call.kwargs if k in known]
    out = call.get('out')
    if out and out.kind == 'tuple':
        found += out.value
    return [x for x in found if x.kind == 'instance']


def is_overridden(world, call):
    default = numpy.ndarray.__array_ufunc__
    return any(
        getattr(world.classes[x.value], '__array_ufunc__', default)
        is not default for x in examined(call))


def expected_outcome(call, specs):
    call = for_numpy(call)
    world = World(numpy, specs)
    log, outcome = world.run(call)
    if outcome[0] == 'opts out':
        i = int(outcome[1][1:])
        if _effective(world, i) == 'no lookup':
            outcome = 'error', LookupFailed
    outcome = decided_data_on_the_device_is_converted(world, log, outcome)
    if not log and not is_overridden(world, call):
        outcome = COMPUTED
    if world.again and outcome[0] == 'error' and outcome[1] not in (
            OverrideFailed, LookupFailed):
        outcome = COMPUTED
    return log, outcome


def _effective(world, i):
    """The behaviour of a class that it has or inherits."""
    lineage = world.lineage(i)
    for j in [j for j in lineage if world.specs[j].cuda] + lineage:
        if world.specs[j].behaviour != 'inherit':
            return world.specs[j].behaviour


def actual_outcome(call, specs, expected):
    world = World(cupy, specs)
    log, outcome = world.run(call)
    # What is computed in the end may fail: no device, no memory. Called
    # again as a ufunc of NumPy, it may not be taken by CuPy's arrays.
    if expected == COMPUTED and (
            outcome[0] == 'error' or world.again or not log):
        outcome = COMPUTED
    # NumPy's own text of the error reads the arrays.
    if (world.again and expected[0] == 'declined'
            and outcome == ('error', cupy.cuda.runtime.CUDARuntimeError)):
        outcome = expected
    return log, outcome


@PROFILE
@hypothesis.given(cases())
def test_same_as_numpy(case):
    specs, call = case
    hypothesis.assume(decided_the_default_is_an_arrays(specs))
    log, outcome = expected_outcome(call, specs)
    hypothesis.event(f'{call.method}: {outcome[0]}')
    actual = actual_outcome(call, specs, outcome)
    assert actual == (log, outcome)


# The base method
# ---------------

@_cached
def base_cases(draw):
    found = tuple(dataclasses.replace(x, cuda=False) for x in draw(specs()))
    n = len(found)
    name = draw(_choice('add', 'negative', 'divmod', 'matmul'))
    out = draw(outputs(n, FUNCTIONS[name].numpy.nout))
    kwargs = {'out': out, 'where': draw(operands(n)), 'dtype': draw(junk(n))}
    return found, Call(
        name, draw(_choice(*METHODS)),
        tuple(draw(operands(n)) for _ in range(draw(_choice(1, 2, 3)))),
        tuple((k, kwargs[k]) for k in draw(_subset(*kwargs))))


def base_declines(world, call):
    """Calls the base method with the arguments of ``call``."""
    args = [world.build(x) for x in call.args]
    kwargs = {k: world.build(v) for k, v in call.kwargs}
    world.function, world.twice = call.function, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            result = world.xp.ndarray.__array_ufunc__(
                empty_array(world.xp.ndarray), call.function.numpy,
                call.method, *args, **kwargs)
    except Exception as e:
        return e if isinstance(e, LookupFailed) else False
    return result is NotImplemented


def is_known(world, x):
    """Whether CuPy's base method takes an operand."""
    if x.kind == 'instance':
        return (world.root(x.value) in ('array', 'host')
                or _converts(world, x.value))
    return x.kind in ('array', 'host') or (
        x.kind == 'value' and type(x.value) in (int, float, bool))


@PROFILE
@hypothesis.given(base_cases())
def test_base_method_declines_as_numpy(case):
    specs, call = case
    worlds = [World(xp, specs) for xp in (numpy, cupy)]
    expected, actual = [base_declines(world, call) for world in worlds]
    hypothesis.event(f'{expected} {actual}')
    if isinstance(actual, LookupFailed):  # decided_lookup_errors_are_raised
        assert expected is True
    elif expected:
        assert actual is True
        assert not worlds[1].log
    elif actual:
        # CuPy does not compute on what NumPy takes as an object.
        assert not all(is_known(worlds[1], x) for x in call.args) or (
            call.get('out'))
