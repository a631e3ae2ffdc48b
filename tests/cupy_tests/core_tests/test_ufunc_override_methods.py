"""Overrides of the methods of ufuncs and of generalized ufuncs.

As in test_ufunc_override.py, the same call is made on NumPy and on CuPy and
what the override received is compared.
"""
from __future__ import annotations

import numpy
import pytest

import cupy
import cupyx


class Recorder:

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return self, ufunc, method, inputs, kwargs


def trace(call):
    try:
        return call()
    except Exception as e:
        return type(e)


a = Recorder()
NoValue = numpy._NoValue

CALLS = {
    'reduce': lambda xp: xp.add.reduce(a),
    'reduce axis': lambda xp: xp.add.reduce(a, 0),
    'reduce positional': lambda xp: xp.add.reduce(a, 0, None, None, False),
    'reduce all positional': lambda xp: xp.add.reduce(
        a, 0, None, None, False, None, True),
    'reduce no initial': lambda xp: xp.add.reduce(
        a, 0, None, None, False, NoValue),
    'reduce initial by keyword': lambda xp: xp.add.reduce(a, initial=NoValue),
    'reduce out': lambda xp: xp.add.reduce(a, 0, None, 'o'),
    'reduce out tuple': lambda xp: xp.add.reduce(a, out=('o',)),
    'reduce empty out': lambda xp: xp.add.reduce(a, out=(None,)),
    'reduce ellipsis': lambda xp: xp.add.reduce(a, out=...),
    'reduce positional ellipsis': lambda xp: xp.add.reduce(a, 0, None, ...),
    'reduce positional tuple': lambda xp: xp.add.reduce(a, 0, None, ('o',)),
    'reduce empty positional tuple': lambda xp: xp.add.reduce(
        a, 0, None, (None,)),
    'reduce out is asked': lambda xp: xp.add.reduce([1], out=a),
    'reduce where is asked': lambda xp: xp.add.reduce([1], where=a),
    'reduce empty tuple': lambda xp: xp.add.reduce(a, out=()),
    'reduce unknown': lambda xp: xp.add.reduce(a, foo=1),
    'reduce twice': lambda xp: xp.add.reduce(a, 0, axis=0),
    'reduce nothing': lambda xp: xp.add.reduce(),
    'reduce too many': lambda xp: xp.add.reduce(a, 1, 2, 3, 4, 5, 6, 7),
    'reduce unary': lambda xp: xp.negative.reduce(a),
    'reduce without identity': lambda xp: xp.divide.reduce(a),
    'accumulate': lambda xp: xp.add.accumulate(a),
    'accumulate positional': lambda xp: xp.add.accumulate(a, 0, 'd', 'o'),
    'accumulate keepdims': lambda xp: xp.add.accumulate(a, keepdims=True),
    'accumulate where': lambda xp: xp.add.accumulate(a, where=True),
    'accumulate out': lambda xp: xp.add.accumulate([1], out=a),
    'accumulate two outputs': lambda xp: xp.divmod.accumulate(a),
    'reduceat': lambda xp: xp.add.reduceat(a, [0]),
    'reduceat positional': lambda xp: xp.add.reduceat(a, [0], 1, 'd', 'o'),
    'reduceat indices are asked': lambda xp: xp.add.reduceat([1], a),
    'reduceat no indices': lambda xp: xp.add.reduceat(a),
    'outer': lambda xp: xp.add.outer(a, 1),
    'outer second': lambda xp: xp.add.outer(1, a),
    'outer keywords': lambda xp: xp.add.outer(a, 1, out='o', sig='s'),
    'outer out': lambda xp: xp.add.outer(1, 1, out=a),
    'outer where': lambda xp: xp.add.outer(1, 1, where=a),
    'outer positional out': lambda xp: xp.add.outer(a, 1, 'o'),
    'outer unary': lambda xp: xp.negative.outer(a),
    'outer unknown': lambda xp: xp.add.outer(a, 1, foo=1),
    'at': lambda xp: xp.add.at(a, [0], 1),
    'at indices are asked': lambda xp: xp.add.at([1], a, 1),
    'at second operand': lambda xp: xp.add.at([1], [0], a),
    'at unary': lambda xp: xp.negative.at(a, [0]),
    'at missing operand': lambda xp: xp.add.at(a, [0]),
    'at superfluous operand': lambda xp: xp.negative.at(a, [0], 1),
    'at two outputs': lambda xp: xp.divmod.at(a, [0], 1),
    'matmul': lambda xp: xp.matmul(a, 1),
    'matmul out': lambda xp: xp.matmul(1, 1, out=a),
    'matmul positional out': lambda xp: xp.matmul(a, 1, 'o'),
    'matmul keywords': lambda xp: xp.matmul(a, 1, axis=1, keepdims=True),
    'matmul axis and axes': lambda xp: xp.matmul(a, 1, axis=1, axes=2),
    'matmul where': lambda xp: xp.matmul(a, 1, where=True),
    'matmul casting is no operand':
        lambda xp: xp.matmul([[1.]], [[1.]], casting=a),
    'matmul order is no operand':
        lambda xp: xp.matmul([[1.]], [[1.]], order=a),
    'matmul too few': lambda xp: xp.matmul(a),
    'matmul too many': lambda xp: xp.matmul(a, 1, 2, 3),
}


@pytest.mark.parametrize('name', CALLS)
def test_same_as_numpy(name):
    expected = trace(lambda: CALLS[name](numpy))
    assert trace(lambda: CALLS[name](cupy)) == expected


@pytest.mark.parametrize('call', [
    lambda xp: xp.add.reduce(a, 0, out='o', keepdims=True),
    lambda xp: xp.add.reduce(a, 0, 'd', 'o', keepdims=True),
    lambda xp: xp.add.reduceat(a, [0], 1, 'd', 'o')])
def test_order_of_keywords_as_numpy(call):
    assert list(call(cupy)[4]) == list(call(numpy)[4])


def test_at_keywords_are_inputs():
    assert cupy.add.at(a, b=1, indices=[0])[3] == (a, [0], 1)


class TestGUFunc:

    def test_attributes(self):
        assert cupy.matmul.signature == numpy.matmul.signature
        assert (cupy.matmul.nin, cupy.matmul.nout, cupy.matmul.nargs) == (
            2, 1, 3)

    def test_user_defined(self):
        gufunc = cupyx.GeneralizedUFunc(lambda x: x.sum(axis=-1), '(n)->()')
        assert gufunc(a, axis=0) == (
            a, gufunc, '__call__', (a,), {'axis': 0})

    def test_positional_out(self):
        gufunc = cupyx.GeneralizedUFunc(
            lambda x: x.sum(axis=-1), '(n)->()', supports_batched=True)
        x, out = cupy.ones((2, 3)), cupy.empty(2)
        gufunc(x, out)
        cupy.testing.assert_array_equal(out, [3, 3])


def test_vectorize():
    func = cupy.vectorize(lambda x, y: x + y)
    assert func(a, 1) == (a, func, '__call__', (a, 1), {})


class TestNative:

    def test_outer(self):
        x, y = numpy.arange(3.), numpy.arange(4.).reshape(2, 2)
        actual = cupy.subtract.outer(cupy.array(x), cupy.array(y))
        cupy.testing.assert_array_equal(actual, numpy.subtract.outer(x, y))

    @pytest.mark.parametrize('kwargs', [
        {}, {'axis': 1}, {'keepdims': True}, {'where': True}])
    def test_reduce(self, kwargs):
        x = numpy.arange(6.).reshape(2, 3)
        for name in 'add', 'multiply':
            actual = getattr(cupy, name).reduce(cupy.array(x), **kwargs)
            expected = getattr(numpy, name).reduce(x, **kwargs)
            cupy.testing.assert_array_equal(actual, expected)

    def test_reduce_out(self):
        out = cupy.empty(3)
        assert cupy.add.reduce(cupy.ones((2, 3)), out=(out,)) is out
        cupy.testing.assert_array_equal(out, [2, 2, 2])

    def test_accumulate(self):
        x = numpy.arange(1., 7).reshape(2, 3)
        for name in 'add', 'multiply':
            actual = getattr(cupy, name).accumulate(cupy.array(x), 1)
            expected = getattr(numpy, name).accumulate(x, 1)
            cupy.testing.assert_array_equal(actual, expected)

    def test_at(self):
        x = cupy.zeros(3)
        assert cupy.add.at(x, cupy.array([0, 2, 0]), 1) is None
        cupy.testing.assert_array_equal(x, [2, 0, 1])

    @pytest.mark.parametrize('call', [
        lambda x: cupy.maximum.reduce(x),
        lambda x: cupy.maximum.accumulate(x),
        lambda x: cupy.maximum.reduceat(x, [0]),
        lambda x: cupy.arctan2.at(x, [0], 1)])
    def test_not_supported(self, call):
        with pytest.raises(NotImplementedError, match='not supported yet'):
            call(cupy.arange(3.))

    @pytest.mark.parametrize('name', ['initial', 'where'])
    def test_reduce_keyword_without_override(self, name):
        with pytest.raises(TypeError, match=name):
            cupy.add.reduce(cupy.arange(3), **{name: 0})


class DeclinesWithData:
    """Can be converted, so that the default runs after it has declined."""

    def __init__(self, data):
        self.data = data
        self.asked = []

    @property
    def __cuda_array_interface__(self):
        return self.data.__cuda_array_interface__

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        self.asked.append(method)
        return NotImplemented

    def sum(self, *args):
        raise AssertionError('called')


class TestConverted:

    @pytest.mark.parametrize('method, args', [
        ('reduce', ()), ('accumulate', ()), ('reduceat', ([0, 1],)),
        ('outer', (2.,))])
    def test_asked_once(self, method, args):
        x = DeclinesWithData(cupy.arange(3.))
        actual = getattr(cupy.add, method)(x, *args)
        expected = getattr(numpy.add, method)(numpy.arange(3.), *args)
        cupy.testing.assert_array_equal(actual, expected)
        assert x.asked == [method]

    def test_at(self):
        x = DeclinesWithData(cupy.arange(3.))
        cupy.add.at(x, 1, 2)
        cupy.testing.assert_array_equal(x.data, [0, 3, 2])
        assert x.asked == ['at']

    def test_out_of_outer(self):
        x = DeclinesWithData(cupy.empty((3, 3)))
        a = cupy.arange(3.)
        cupy.add.outer(a, a, out=x)
        cupy.testing.assert_array_equal(
            x.data, numpy.add.outer(a.get(), a.get()))
        assert x.asked == ['outer']


class OnDevice:

    def __cuda_array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc, method, inputs, kwargs


class TestFused:

    def setup_method(self):
        @cupy.fuse
        def scale(x, y):
            return cupy.add(x, y)

        self.scale = scale

    def test_array_ufunc_sees_the_ufuncs(self):
        assert self.scale(a, 1) == (a, numpy.add, '__call__', (a, 1), {})
        assert self.scale(cupy.ones(3), a)[1] is numpy.add

    def test_cuda_array_ufunc_receives_the_function(self):
        x = OnDevice()
        assert self.scale(x, 1) == (self.scale, '__call__', (x, 1), {})

    def test_native(self):
        cupy.testing.assert_array_equal(
            self.scale(cupy.ones(3), 1), [2, 2, 2])

    def test_captured_object_is_not_asked_while_tracing(self):
        func = cupy.fuse(lambda x: cupy.add(x, a))
        with pytest.raises(TypeError):
            func(cupy.ones(3))
