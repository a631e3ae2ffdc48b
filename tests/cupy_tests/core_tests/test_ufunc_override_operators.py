"""Operators and ``cupy.ndarray.__array_ufunc__``, the base method."""
from __future__ import annotations

import operator

import numpy
import pytest

import cupy
import cupyx.scipy.special

BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv,
    operator.floordiv, operator.mod, divmod, operator.pow, operator.lshift,
    operator.rshift, operator.and_, operator.or_, operator.xor,
    operator.matmul, operator.lt, operator.le, operator.eq, operator.ne,
    operator.gt, operator.ge]
IN_PLACE = [
    operator.iadd, operator.isub, operator.imul, operator.itruediv,
    operator.ifloordiv, operator.imod, operator.ipow, operator.ilshift,
    operator.irshift, operator.iand, operator.ior, operator.ixor]
UNARY = [operator.neg, operator.pos, abs, operator.invert]


def without_device(xp, dtype='i8'):
    """Three elements; CuPy's are no memory of any device."""
    if xp is numpy:
        return numpy.ndarray((3,), dtype, numpy.zeros(3, dtype))
    memory = cupy.cuda.UnownedMemory(4096, 1024, None, 0)
    return cupy.ndarray(
        (3,), dtype, memptr=cupy.cuda.MemoryPointer(memory, 0))


class Recorder:

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        kinds = [type(x).__name__ for x in inputs]
        return ufunc, method, kinds, sorted(kwargs)


class OptsOut:
    __array_ufunc__ = None

    def __radd__(self, other):
        return 'reflected'


def subclass(xp):
    class Sub(xp.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return (ufunc, method, [type(x).__name__ for x in inputs],
                    sorted(kwargs))

    return without_device(xp).view(Sub)


class TestOperators:

    @pytest.mark.parametrize('op', BINARY)
    def test_foreign_operand(self, op):
        expected = op(without_device(numpy), Recorder())
        assert op(without_device(cupy), Recorder()) == expected

    @pytest.mark.parametrize('op', IN_PLACE)
    def test_in_place(self, op):
        expected = op(without_device(numpy), Recorder())
        assert op(without_device(cupy), Recorder()) == expected

    @pytest.mark.parametrize('op', BINARY)
    @pytest.mark.parametrize('order', ['sub-sub', 'sub-base', 'base-sub'])
    def test_subclass(self, op, order):
        results = []
        for xp in numpy, cupy:
            s, x = subclass(xp), without_device(xp)
            left, right = {'sub-sub': (s, s), 'sub-base': (s, x),
                           'base-sub': (x, s)}[order]
            results.append(op(left, right))
        assert results[0] == results[1]

    @pytest.mark.parametrize('op', IN_PLACE)
    def test_subclass_in_place(self, op):
        assert op(subclass(cupy), 3) == op(subclass(numpy), 3)

    @pytest.mark.parametrize('op', UNARY)
    def test_subclass_unary(self, op):
        assert op(subclass(cupy)) == op(subclass(numpy))

    @pytest.mark.parametrize('power', [2, 0.5, 3])
    def test_power(self, power):
        results = [operator.pow(x.view(type(subclass(xp))), power)
                   for xp in (numpy, cupy)
                   for x in [without_device(xp, 'f8')]]
        assert results[0] == results[1]

    def test_opts_out(self):
        assert without_device(cupy) + OptsOut() == 'reflected'
        with pytest.raises(TypeError, match='does not support ufuncs'):
            x = without_device(cupy)
            x += OptsOut()

    @pytest.mark.parametrize('op', BINARY)
    def test_sibling_opts_out(self, op):
        def reflected(self, other):
            return 'reflected'

        names = ['radd', 'rsub', 'rmul', 'rtruediv', 'rfloordiv', 'rmod',
                 'rdivmod', 'rpow', 'rlshift', 'rrshift', 'rand', 'ror',
                 'rxor', 'rmatmul', 'lt', 'le', 'eq', 'ne', 'gt', 'ge']
        for xp in numpy, cupy:
            body = {f'__{name}__': reflected for name in names}
            body['__array_ufunc__'] = None
            sibling = type('Sibling', (xp.ndarray,), body)
            plain = type('Plain', (xp.ndarray,), {})
            x = without_device(xp)
            assert op(x.view(plain), x.view(sibling)) == 'reflected'

    def test_instance_attribute_is_no_opt_out(self):
        x = Recorder()
        x.__array_ufunc__ = None
        assert (without_device(cupy) + x)[0] is numpy.add

    def test_zero_dimensional_host_subclass_is_asked_as_it_is(self):
        class Unit(numpy.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
                return [type(x).__name__ for x in inputs]

        x = numpy.array(1.).view(Unit)
        assert (without_device(cupy) < x) == ['ndarray', 'Unit']

    def test_cuda_override(self):
        class OnDevice:
            def __cuda_array_ufunc__(self, ufunc, method, *inputs, **kwargs):
                return ufunc

        assert without_device(cupy) + OnDevice() is cupy.add
        assert numpy.add(without_device(cupy), OnDevice()) is cupy.add


class TestBaseMethod:

    def test_declines_for_overrides(self):
        x = without_device(cupy)
        call = x.__array_ufunc__
        for operand in Recorder(), OptsOut(), subclass(cupy):
            assert call(numpy.add, '__call__', x, operand) is NotImplemented
            assert call(
                numpy.add, '__call__', x, 1, out=(operand,)) is NotImplemented
            assert call(
                numpy.add, '__call__', x, 1, where=operand) is NotImplemented

    def test_unknown_ufunc_of_a_known_name(self):
        def add(x, y):
            raise AssertionError('called')

        x = without_device(cupy)
        add = numpy.frompyfunc(add, 2, 1)
        assert x.__array_ufunc__(add, '__call__', x, 1) is NotImplemented

    def test_unknown_method(self):
        x = without_device(cupy)
        assert x.__array_ufunc__(numpy.add, 'foo', x, 1) is NotImplemented

    def test_foreign_operand(self):
        x = without_device(cupy)
        assert x.__array_ufunc__(
            numpy.add, '__call__', x, object()) is NotImplemented

    def test_scipy_by_identity(self):
        special = pytest.importorskip('scipy.special')
        from cupy._core import _ufunc_registry
        for name in 'expm1', 'cbrt', 'log1p', 'ellipk', 'ellipkm1':
            found = _ufunc_registry.from_counterpart(getattr(special, name))
            assert found is getattr(cupyx.scipy.special, name)
        assert _ufunc_registry.from_counterpart(special.round) is None

    def test_super_without_unwrapping_does_not_recurse(self):
        class Careless(cupy.ndarray):
            def __array_ufunc__(self, *args, **kwargs):
                return super().__array_ufunc__(*args, **kwargs)

        x = without_device(cupy).view(Careless)
        with pytest.raises(TypeError, match='returned NotImplemented'):
            cupy.add(x, 1)


def unwrap(x):
    return x.view(cupy.ndarray) if isinstance(x, Unwraps) else x


class Unwraps(cupy.ndarray):
    """A subclass as NEP 13 recommends it."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if 'out' in kwargs:
            kwargs['out'] = tuple(unwrap(x) for x in kwargs['out'])
        if 'where' in kwargs:
            kwargs['where'] = unwrap(kwargs['where'])
        result = super().__array_ufunc__(
            ufunc, method, *[unwrap(x) for x in inputs], **kwargs)
        if isinstance(result, tuple):
            return tuple(x.view(Unwraps) for x in result)
        return None if result is None else result.view(Unwraps)


class TestSubclassWithSuper:

    @pytest.mark.parametrize('call', [
        lambda xp, x: xp.add(x, 1),
        lambda xp, x: xp.add(x, x, out=x),
        lambda xp, x: xp.modf(x),
        lambda xp, x: xp.modf(x, out=(None, x)),
        lambda xp, x: xp.add.reduce(x),
        lambda xp, x: xp.add.reduce(x, out=x[0]),
        lambda xp, x: xp.add.accumulate(x),
        lambda xp, x: xp.add.outer(x, x),
        lambda xp, x: xp.negative(x, out=x, where=x > 1),
        lambda xp, x: x ** 2,
        lambda xp, x: xp.add.at(x, [[0, 1], [0, 0]], 1),
    ])
    @pytest.mark.parametrize('module', [cupy, numpy])
    def test_as_numpy(self, call, module):
        host = numpy.arange(4.).reshape(2, 2) + 0.5
        array = cupy.array(host).view(Unwraps)
        expected, actual = call(numpy, host), call(module, array)
        if expected is not None:
            for e, g in zip(numpy.atleast_1d(expected),
                            cupy.atleast_1d(actual)
                            if not isinstance(actual, tuple) else actual):
                cupy.testing.assert_array_equal(g, e)
        cupy.testing.assert_array_equal(array, host)
