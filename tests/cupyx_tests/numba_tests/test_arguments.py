"""Operands of the host, of numba and of CuPy; streams."""
from __future__ import annotations

import ctypes
import importlib
import types

import numba
import numpy
import pytest

import cupy
import cupyx.numba
from cupyx.numba._choice import compiler

cuda = importlib.import_module(compiler.module)


@cupyx.numba.vectorize
def scaled(x, y):
    return x * 10 + y


@cupyx.numba.guvectorize(
    'void(float64[:], float64, float64[:])', '(n),()->(n)')
def shifted(x, by, result):
    for i in range(x.shape[0]):
        result[i] = x[i] + by


class TestHost:

    @pytest.mark.parametrize('x', [
        numpy.arange(3), [0, 1, 2], (0, 1, 2), numpy.arange(6)[::2] // 2])
    def test_arrays_in_array_out(self, x):
        result = scaled(x, numpy.ones(3))
        assert type(result) is numpy.ndarray
        assert result.tolist() == [1, 11, 21]

    # numba#6967
    @pytest.mark.parametrize(('x', 'y', 'result'), [
        (2, 3, numpy.int64), (2., 3, numpy.float64),
        (numpy.int8(2), 3, numpy.int64), (2j, 3, numpy.complex128),
        (numpy.array(2.), 3, numpy.float64)])
    def test_scalars_in_scalar_out(self, x, y, result):
        value = scaled(x, y)
        assert type(value) is result
        assert value == x * 10 + 3

    # numba#4069
    @pytest.mark.parametrize('shape', [(3,), (2, 3), (2, 2, 3)])
    def test_out(self, shape):
        out = numpy.empty(shape)
        assert scaled(numpy.ones(shape), 1, out=out) is out
        assert (out == 11).all()
        out[...] = 0
        assert scaled(numpy.ones(shape), 1, out) is out
        assert (out == 11).all()

    def test_where(self):
        out = numpy.zeros(3)
        scaled(numpy.arange(3.), 1, out=out,
               where=numpy.array([True, False, True]))
        assert out.tolist() == [1, 0, 21]

    def test_out_on_the_device(self):
        out = cupy.empty(3)
        assert scaled(numpy.arange(3.), 1, out=out) is out
        assert out.tolist() == [1, 11, 21]

    def test_methods(self):
        x = numpy.arange(4.)
        for result in (scaled.accumulate(x), scaled.reduceat(x, [0, 2]),
                       scaled.outer(x, [1.])):
            assert type(result) is numpy.ndarray
        assert type(scaled.reduce(x)) is numpy.float64
        assert scaled.reduce([1, 2, 3]) == 123
        scaled.at(x, [0, 0], 1)
        assert x.tolist() == [11, 1, 2, 3]
        out = numpy.empty(())
        assert scaled.reduce(numpy.arange(4.), out=out) is out
        assert out == 123

    def test_gufunc(self):
        result = shifted(numpy.zeros((2, 3)), [1, 2])
        assert type(result) is numpy.ndarray
        assert result.tolist() == [[1] * 3, [2] * 3]
        out = numpy.empty((2, 3))
        assert shifted(numpy.zeros((2, 3)), 5, out=out) is out
        assert (out == 5).all()

    @pytest.mark.parametrize(('function', 'x', 'y'), [
        (lambda x, y: x - y, 'M8[s]', 'M8[s]'),
        (lambda x, y: x + y, 'M8[D]', 'm8[D]'),
        (lambda x, y: x + y, 'm8[ms]', 'm8[ms]'),
        (lambda x, y: x / y, 'm8[s]', 'm8[s]'),
        (lambda x, y: x * y, 'm8[s]', 'l')])
    def test_dates(self, function, x, y):
        x = numpy.array([86400, 1, 5], 'l').astype(x)
        y = numpy.array([3, 4, 2], 'l').astype(y)
        expected = function(x, y)
        actual = cupyx.numba.vectorize(function)(x, y)
        assert type(actual) is numpy.ndarray
        assert actual.dtype == expected.dtype
        assert (actual == expected).all()
        assert cupyx.numba.vectorize(function)(x[0], y[0]) == expected[0]

    def test_dates_with_signatures(self):
        ufunc = cupyx.numba.vectorize([
            'float64(float64, float64)',
            numba.types.NPTimedelta('s')(numba.types.NPDatetime('s'),
                                         numba.types.NPDatetime('s'))])(
            lambda x, y: x - y)
        days = numpy.array(['2026-12-01', '2026-12-03'], 'M8[s]')
        assert ufunc(days[1], days[0]) == numpy.timedelta64(2, 'D')
        with pytest.raises(TypeError, match='no arrays of datetime64'):
            scaled.reduce(days)
        with pytest.raises(TypeError, match='no arrays of timedelta64'):
            ufunc(days, days, out=numpy.empty(2, 'm8[s]'))


class TestDevice:

    def test_mixed_with_the_host(self):
        for x, y in ((cupy.arange(3), numpy.ones(3)),
                     (numpy.arange(3), cupy.ones(3))):
            result = scaled(x, y)
            assert type(result) is cupy.ndarray
            assert result.tolist() == [1, 11, 21]

    def test_zero_dimensions(self):
        result = scaled(cupy.array(2.), 3)
        assert type(result) is cupy.ndarray and result.shape == ()

    def test_other_device_arrays(self):
        class Array:
            keep = cupy.arange(3.)
            __cuda_array_interface__ = keep.__cuda_array_interface__

        result = scaled(Array(), 1)
        assert type(result) is cupy.ndarray
        assert result.tolist() == [1, 11, 21]

    # numba#8923
    def test_nothing_is_copied_to_the_host(self, monkeypatch):
        scaled(cupy.ones((2, 3)).T, 2.)
        copies = []
        original = cupy.cuda.runtime.memcpyAsync
        monkeypatch.setattr(
            cupy.cuda.runtime, 'memcpyAsync',
            lambda *args: copies.append(args) or original(*args))
        scaled(cupy.ones((2, 3)).T, 2.)
        assert not copies

    # numba#6237
    def test_scalars_make_no_arrays(self):
        x, out = cupy.ones(3), cupy.empty(3)
        scaled(x, 2., out=out)
        pool = cupy.get_default_memory_pool()
        before = pool.used_bytes()
        hook = _Allocations()
        with hook:
            scaled(x, 2., out=out)
        assert hook.count == 0 and pool.used_bytes() == before


class _Allocations(cupy.cuda.memory_hook.MemoryHook):

    name = 'allocations'

    def __init__(self):
        self.count = 0

    def malloc_preprocess(self, **kwargs):
        self.count += 1


class TestNumba:

    def test_device_arrays(self):
        x = cuda.to_device(numpy.arange(3.))
        result = scaled(x, 1)
        assert type(result) is type(x)
        assert result.copy_to_host().tolist() == [1, 11, 21]
        assert type(scaled(x, cupy.ones(3))) is cupy.ndarray

    def test_out(self):
        x = cuda.to_device(numpy.arange(3.))
        out = cuda.device_array(3)
        assert scaled(x, 1, out=out) is out
        assert out.copy_to_host().tolist() == [1, 11, 21]

    def test_gufunc(self):
        x = cuda.to_device(numpy.arange(3.))
        assert shifted(x, 1).copy_to_host().tolist() == [1, 2, 3]

    def test_reduce(self):
        assert scaled.reduce(cuda.to_device(numpy.arange(4.))) == 123


class TestStreams:

    own = cupy.cuda.Stream()

    @pytest.mark.parametrize('stream', [
        None, 0, own, own.ptr, cuda.stream()],
        ids=['None', '0', 'CuPy', 'handle', 'numba'])
    def test_keyword(self, stream):
        x = cupy.arange(3.)
        assert scaled(x, 1, stream=stream).tolist() == [1, 11, 21]
        assert shifted(x, 1, stream=stream).tolist() == [1, 2, 3]
        assert scaled.reduce(x, stream=stream) == 12

    def test_streams_with_a_handle_of_ctypes(self):
        # Those of numba without numba-cuda.
        stream = types.SimpleNamespace(handle=ctypes.c_void_p(self.own.ptr))
        with cupyx.numba._arguments.on_stream(stream):
            assert cupy.cuda.get_current_stream().ptr == self.own.ptr
        stream.handle.value = None
        with cupyx.numba._arguments.on_stream(stream):
            assert cupy.cuda.get_current_stream().ptr == 0

    @pytest.mark.parametrize('stream', ['0', 1.5, object()])
    def test_what_is_no_stream(self, stream):
        with pytest.raises(TypeError, match='stream'):
            scaled(cupy.arange(3.), 1, stream=stream)

    def test_current_one_is_used(self):
        seen = []
        original = cupy.cuda.get_current_stream

        @cupyx.numba.vectorize
        def ufunc(x):
            return x

        stream = cupy.cuda.Stream()
        run = ufunc._run
        ufunc._run = lambda *args, **kwargs: (
            seen.append(original()), run(*args, **kwargs))[1]
        ufunc(numpy.ones(3), stream=stream)
        assert seen == [stream]

    def test_no_stream(self):
        with pytest.raises(TypeError, match='stream protocol'):
            scaled(cupy.ones(3), 1, stream='default')


class Foreign:

    def __init__(self, result=NotImplemented):
        self.calls = []
        self.result = result

    def __array_ufunc__(self, *args, **kwargs):
        self.calls.append((args, kwargs))
        return self.result


class TestOverrides:

    @pytest.mark.parametrize('ufunc', [scaled, shifted])
    def test_call(self, ufunc):
        obj = Foreign('answer')
        x = cupy.ones(3)
        assert ufunc(obj, x) == 'answer'
        assert ufunc(x, obj) == 'answer'
        assert ufunc(x, x, out=obj) == 'answer'
        (asked, method, *inputs), kwargs = obj.calls[0]
        assert asked is ufunc and method == '__call__'
        assert inputs == [obj, x] and kwargs == {}
        assert obj.calls[2][1] == {'out': (obj,)}

    def test_stream_is_not_the_operands_business(self):
        obj = Foreign('answer')
        for ufunc in scaled, shifted:
            assert ufunc(obj, 1, stream=cupy.cuda.Stream()) == 'answer'
        assert [kwargs for _, kwargs in obj.calls] == [{}, {}]

    @pytest.mark.parametrize(('method', 'args'), [
        ('reduce', ()), ('accumulate', ()), ('reduceat', ([0],)),
        ('outer', (1,)), ('at', ([0], 1))])
    def test_methods(self, method, args):
        obj = Foreign('answer')
        result = getattr(scaled, method)(obj, *args)
        assert result == ('answer' if method != 'at' else None)
        assert obj.calls[0][0][:2] == (scaled, method)

    def test_declined(self):
        with pytest.raises(TypeError, match='returned NotImplemented'):
            scaled(Foreign(), 1)

    def test_opted_out(self):
        class OptsOut:
            __array_ufunc__ = None

        with pytest.raises(TypeError, match='does not support ufuncs'):
            scaled(OptsOut(), 1)

    def test_cuda_array_ufunc(self):
        class Cuda(Foreign):
            __cuda_array_ufunc__ = Foreign.__array_ufunc__
            __array_ufunc__ = None

        assert scaled(Cuda('answer'), 1) == 'answer'

    def test_ufuncs_of_numba_itself(self):
        from numba.cuda import vectorizers
        function = vectorizers.CUDAUFuncDispatcher({}, lambda x: x)
        obj = Foreign('answer')
        known = cupyx.numba.vectorize(lambda x: x)
        function._cupy_ufunc = known
        assert function(obj) == 'answer'
        assert obj.calls[0][0][0] is known
