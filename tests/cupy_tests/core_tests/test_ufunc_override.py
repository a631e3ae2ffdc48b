"""Overrides of ``ufunc.__call__`` and ``ElementwiseKernel.__call__``.

NumPy is the oracle: the same call is made on ``numpy.X`` and ``cupy.X`` and
what the overrides saw is compared.
"""
from __future__ import annotations

import numpy
import pytest

import cupy
import cupyx
import cupyx.scipy.special


class Recorder:
    """Answers with everything that it was given."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return self, ufunc, method, inputs, kwargs


class Declines:

    def __init__(self, log=None):
        self.log = [] if log is None else log

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        self.log.append(type(self).__name__)
        return NotImplemented


class P(Declines):
    pass


class PS(P):
    pass


class Q(Declines):
    pass


class OptsOut:
    __array_ufunc__ = None


def trace(call):
    """What happened: the result of ``call``, or the class of its error."""
    try:
        return call()
    except Exception as e:
        return type(e)


a = Recorder()
o, p = 'out 1', 'out 2'

CALLS = {
    'left operand': lambda xp: xp.add(a, 1),
    'right operand': lambda xp: xp.add(1, a),
    'unary': lambda xp: xp.sin(a),
    'output by keyword': lambda xp: xp.add(1, 1, out=a),
    'output by position': lambda xp: xp.add(1, 1, a),
    'where': lambda xp: xp.negative(1, where=a),
    'no output': lambda xp: xp.add(a, 1, out=None),
    'no output by position': lambda xp: xp.add(a, 1, None),
    'empty output': lambda xp: xp.add(a, 1, out=(None,)),
    'ellipsis output': lambda xp: xp.add(a, 1, out=...),
    'positional ellipsis': lambda xp: xp.add(a, 1, ...),
    'output tuple': lambda xp: xp.add(a, 1, out=(o,)),
    'output list': lambda xp: xp.add(a, 1, out=[o]),
    'first of two outputs': lambda xp: xp.divmod(a, 1, o),
    'second of two outputs': lambda xp: xp.divmod(a, 1, None, p),
    'two empty outputs': lambda xp: xp.divmod(a, 1, out=(None, None)),
    'bare output of two': lambda xp: xp.divmod(a, 1, out=o),
    'short output tuple': lambda xp: xp.divmod(a, 1, out=(o,)),
    'empty output tuple': lambda xp: xp.add(a, 1, out=()),
    'output twice': lambda xp: xp.add(a, 1, o, out=p),
    'output and None twice': lambda xp: xp.add(a, 1, None, out=None),
    'too few': lambda xp: xp.add(a),
    'too many': lambda xp: xp.add(a, 1, 2, 3),
    'unknown keyword': lambda xp: xp.add(a, 1, foo=1),
    'sig': lambda xp: xp.add(a, 1, sig='x'),
    'sig and signature': lambda xp: xp.add(a, 1, sig='x', signature='y'),
    'dtype and signature': lambda xp: xp.add(a, 1, dtype=1, signature=2),
    'values are not checked': lambda xp: xp.add(
        a, 1, casting=1, order=2, subok='s', where='w', dtype='zz'),
    'where=True is kept': lambda xp: xp.add(a, 1, where=True),
    'two recorders': lambda xp: xp.add(a, Recorder())[0] is a,
    'nested operand': lambda xp: xp.add([a], 1),
    'opts out': lambda xp: xp.add(1, OptsOut()),
    'opts out, other accepts': lambda xp: xp.add(a, OptsOut()),
    'opts out in where': lambda xp: xp.add(1, 1, where=OptsOut()),
    'opts out in out': lambda xp: xp.add(1, 1, out=OptsOut()),
}


@pytest.mark.parametrize('name', CALLS)
def test_same_as_numpy(name):
    expected = trace(lambda: CALLS[name](numpy))
    assert trace(lambda: CALLS[name](cupy)) == expected


def test_output_tuple_is_passed_on():
    out = (o,)
    assert cupy.add(a, 1, out=out)[4]['out'] is out


def test_former_where_keyword():
    assert cupy.add(a, 1, _where='w')[4] == {'where': 'w'}
    assert cupy.add(a, 1, _where=None)[4] == {}
    with pytest.raises(TypeError, match='_where'):
        cupy.add(a, 1, _where=1, where=1)


def test_keywords_are_fresh_for_each_override():
    class Spoils:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            kwargs.clear()
            return NotImplemented

    assert cupy.add(Spoils(), a, dtype='d')[4] == {'dtype': 'd'}


ORDERS = {
    'left to right': lambda xp, log: xp.add(P(log), Q(log)),
    'subclass first': lambda xp, log: xp.add(P(log), PS(log)),
    'subclass already first': lambda xp, log: xp.add(PS(log), P(log)),
    'subclass in out': lambda xp, log: xp.add(P(log), Q(log), out=PS(log)),
    'subclass in where': lambda xp, log: xp.add(P(log), 1, where=PS(log)),
    'same type once': lambda xp, log: xp.add(P(log), P(log)),
    'outputs in order': lambda xp, log: xp.divmod(
        P(log), 1, out=(None, Q(log))),
    'all places': lambda xp, log: xp.add(
        1, P(log), out=Q(log), where=Declines(log)),
}


@pytest.mark.parametrize('name', ORDERS)
def test_order_as_numpy(name):
    logs = []
    for xp in numpy, cupy:
        log = []
        with pytest.raises(TypeError, match='returned NotImplemented'):
            ORDERS[name](xp, log)
        logs.append(log)
    assert logs[0] == logs[1]


@pytest.mark.parametrize('cls', [P, OptsOut])
def test_error_text_as_numpy(cls):
    x = cls()
    with pytest.raises(TypeError) as expected:
        numpy.add(x, 1, out=(x,), where=True)
    with pytest.raises(TypeError) as actual:
        cupy.add(x, 1, out=(x,), where=True)
    assert str(actual.value) == str(expected.value)


def test_subclass_by_instancecheck_goes_first():
    class Meta(type):
        def __instancecheck__(cls, x):
            return isinstance(x, Recorder)

    class Claims(Declines, metaclass=Meta):
        pass

    for xp in numpy, cupy:
        x = Claims()
        assert xp.add(x, a)[0] is a
        assert not x.log


def test_error_text_with_array_in_a_list():
    # Without device, the text of the array itself could not be made.
    memory = cupy.cuda.MemoryPointer(
        cupy.cuda.UnownedMemory(4096, 1024, None, 0), 0)
    x = cupy.ndarray((3,), 'f8', memptr=memory)
    with pytest.raises(TypeError, match=r'\[<ndarray shape=\(3,\) dtype='):
        cupy.add(Declines(), [x])


def test_order_of_keywords_as_numpy():
    for kwargs in {'sig': 's', 'where': 1}, {'where': 1, 'order': 2}:
        assert (list(cupy.add(a, 1, o, **kwargs)[4])
                == list(numpy.add(a, 1, o, **kwargs)[4]))


def test_exception_propagates():
    class Fails:
        def __array_ufunc__(self, *args, **kwargs):
            raise KeyError('from the override')

    with pytest.raises(KeyError, match='from the override'):
        cupy.add(Fails(), a)


def test_none_is_a_result():
    class Nothing:
        def __array_ufunc__(self, *args, **kwargs):
            return None

    assert cupy.sin(Nothing()) is None


def test_lookup_on_the_type():
    class Plain:
        pass

    x = Plain()
    x.__array_ufunc__ = lambda *args, **kwargs: 'from the instance'
    with pytest.raises(TypeError):
        cupy.sin(x)


def test_borrowed_default_is_no_override():
    class Borrows:
        __array_ufunc__ = cupy.ndarray.__array_ufunc__

    with pytest.raises(TypeError, match='Unsupported type'):
        cupy.sin(Borrows())


class TestCounterpart:

    @pytest.mark.parametrize('name', [
        'add', 'divide', 'true_divide', 'degrees', 'rad2deg', 'deg2rad',
        'abs', 'absolute', 'sqrt', 'hypot', 'conj', 'divmod'])
    def test_numpy(self, name):
        func = getattr(cupy, name)
        args = (a,) * func.nin
        received = func(*args)[1]
        expected = {'degrees': 'rad2deg', 'radians': 'deg2rad'}.get(name, name)
        assert received is getattr(numpy, expected)

    @pytest.mark.parametrize('name', ['ellipk', 'ellipkm1', 'psi', 'erf'])
    def test_scipy(self, name):
        special = pytest.importorskip('scipy.special')
        received = getattr(cupyx.scipy.special, name)(a)[1]
        assert received is getattr(special, name)

    @pytest.mark.parametrize('func', [
        cupy.i0, cupy.sinc, cupyx.rsqrt, cupyx.scipy.special.zeta])
    def test_without_counterpart(self, func):
        received = func(*(a,) * func.nin)[1]
        assert received is func
        assert received.signature is None

    def test_every_public_ufunc_has_at_most_one(self):
        from cupy._core import _ufunc_registry
        found = {}
        for module in cupy, cupyx.scipy.special:
            for func in vars(module).values():
                if isinstance(func, cupy.ufunc):
                    other = _ufunc_registry.counterpart(func)
                    assert (other.nin, other.nout) == (func.nin, func.nout)
                    assert found.setdefault(other, func) is func
        assert len(found) > 150

    def test_internal_ufunc_does_not_dispatch(self):
        with pytest.raises(TypeError, match='Unsupported type'):
            cupy._core.elementwise_copy(a)


class OnDevice:
    """Has both protocols; the CUDA one is asked instead."""

    def __cuda_array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc, method, inputs, kwargs

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        raise AssertionError('asked in spite of __cuda_array_ufunc__')


class TestCudaArrayUfunc:

    def test_receives_the_cupy_callable(self):
        x = OnDevice()
        assert cupy.add(x, 1, dtype='f') == (
            cupy.add, '__call__', (x, 1), {'dtype': 'f'})

    def test_takes_its_place_in_the_order(self):
        class Sub(P):
            def __cuda_array_ufunc__(self, ufunc, *args, **kwargs):
                return ufunc

        assert cupy.add(P(), Sub()) is cupy.add
        assert cupy.add(a, OnDevice())[1] is numpy.add

    def test_opts_out(self):
        class Out(Recorder):
            __cuda_array_ufunc__ = None

        with pytest.raises(TypeError, match='__cuda_array_ufunc__=None'):
            cupy.add(a, Out())

    def test_declines(self):
        class No:
            def __cuda_array_ufunc__(self, *args, **kwargs):
                return NotImplemented

        assert cupy.add(No(), a)[0] is a


class TestLegacyHook:

    class Legacy:
        def __cupy_override_elementwise_kernel__(self, kernel, *args,
                                                 **kwargs):
            return 'legacy', kernel, args, kwargs

    def test_ufunc(self):
        x = self.Legacy()
        assert cupy.add(x, 1, dtype='f') == (
            'legacy', cupy.add, (x, 1), {'dtype': 'f'})

    def test_asked_before_array_ufunc(self):
        assert cupy.add(a, self.Legacy())[0] == 'legacy'

    def test_kernel_keeps_its_keywords(self):
        x, kernel = self.Legacy(), _kernel()
        assert kernel(x, 1, size=5, block_size=64) == (
            'legacy', kernel, (x, 1), {'size': 5, 'block_size': 64})


def _kernel():
    return cupy.ElementwiseKernel(
        'float64 x, float64 y', 'float64 z', 'z = x - y', 'diff')


class TestElementwiseKernel:

    def test_receives_the_kernel(self):
        kernel = _kernel()
        assert kernel(a, 1) == (a, kernel, '__call__', (a, 1), {})
        assert kernel.signature is None

    def test_outputs(self):
        kernel = _kernel()
        assert kernel(a, 1, o)[4] == {'out': (o,)}
        assert kernel(a, 1, out=o)[4] == {'out': (o,)}
        assert kernel(1, 1, a)[4] == {'out': (a,)}

    def test_keywords(self):
        received = _kernel()(a, 1, size=3, stream='s', block_size='b')[4]
        assert received == {'size': 3, 'stream': 's', 'block_size': 'b'}

    @pytest.mark.parametrize('args,kwargs', [
        ((a,), {}), ((a, 1, 2, 3), {}), ((a, 1), {'foo': 1}),
        ((a, 1, 2), {'out': 3})])
    def test_errors_come_first(self, args, kwargs):
        with pytest.raises(TypeError):
            _kernel()(*args, **kwargs)

    def test_opts_out(self):
        with pytest.raises(TypeError, match='does not support ufuncs'):
            _kernel()(OptsOut(), 1)


class Convertible(Declines):
    """Declines, but has data on the device."""

    def __init__(self, array):
        super().__init__()
        self.array = array
        self.reads = 0

    @property
    def __cuda_array_interface__(self):
        self.reads += 1
        return self.array.__cuda_array_interface__


class TestDeviceData:

    def test_converted_as_the_last_resort(self):
        x = Convertible(cupy.arange(3.))
        y = cupy.add(x, 1)
        assert type(y) is cupy.ndarray
        cupy.testing.assert_array_equal(y, [1, 2, 3])
        assert x.log == ['Convertible']

    def test_not_beside_one_that_cannot_convert(self):
        with pytest.raises(TypeError, match='returned NotImplemented'):
            cupy.add(Convertible(cupy.arange(3.)), P())

    def test_interface_is_not_read_by_the_search(self):
        class Accepts(Convertible):
            def __array_ufunc__(self, *args, **kwargs):
                return 'accepted'

        x = Accepts(cupy.arange(3.))
        assert cupy.add(cupy.arange(3.), x) == 'accepted'
        assert x.reads == 0

    def test_device_arrays_are_not_copied_for_the_error(self):
        with pytest.raises(TypeError, match=r'ndarray shape=\(3,\)'):
            cupy.add(cupy.arange(3.), P())

    def test_subclass_override(self):
        class Sub(cupy.ndarray):
            def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
                return 'subclass', ufunc

        x = cupy.arange(3.).view(Sub)
        assert cupy.add(cupy.arange(3.), x) == ('subclass', numpy.add)
        assert cupy.sin(cupy.arange(3.), out=x) == ('subclass', numpy.sin)


class TestNative:

    def test_where(self):
        x = cupy.arange(4.)
        out = cupy.zeros(4)
        mask = cupy.array([True, False, True, False])
        cupy.negative(x, out=out, where=mask)
        cupy.testing.assert_array_equal(out, [0, 0, -2, 0])
        cupy.negative(x, out=out, where=True)
        cupy.testing.assert_array_equal(out, [0, -1, -2, -3])

    def test_kernel_out(self):
        out = cupy.empty(3)
        result = _kernel()(cupy.arange(3.), 1, out=out)
        assert result is out
        cupy.testing.assert_array_equal(out, [-1, 0, 1])

    @pytest.mark.parametrize('kwargs', [
        {'foo': 1}, {'subok': True}, {'order': 'C'}])
    def test_unknown_keyword_is_named(self, kwargs):
        with pytest.raises(TypeError, match=next(iter(kwargs))):
            cupy.add(1, cupy.arange(3), **kwargs)
