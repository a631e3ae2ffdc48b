"""Half-precision and bfloat16 arithmetic, scalar and packed.

Sources: PTX ISA, "Half Precision Floating Point Instructions" and "Floating
Point Instructions".
"""
from __future__ import annotations

from collections.abc import Callable
import functools

from cupy_backends.host.ptx import approx
from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import floats
from cupy_backends.host.ptx import halves
from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx import rounding

op = functools.partial(
    optable.op, section='Half Precision Floating Point Instructions')

Builder = builder.Builder
Form = optable.Form

_F16 = ('f16', 'f16x2')
_BF16 = ('bf16', 'bf16x2')


def _is_half(i: Form) -> bool:
    return i.T.name in _F16


@op('add{.rn}{.ftz}{.sat}.T d, a, b', T=_F16)
@op('add{.rn}.T d, a, b', T=_BF16)
def add(b: Builder, i: Form, x: str, y: str) -> str:
    return _arithmetic(b, i, 'fadd', x, y)


@op('sub{.rn}{.ftz}{.sat}.T d, a, b', T=_F16)
@op('sub{.rn}.T d, a, b', T=_BF16)
def sub(b: Builder, i: Form, x: str, y: str) -> str:
    return _arithmetic(b, i, 'fsub', x, y)


@op('mul{.rn}{.ftz}{.sat}.T d, a, b', T=_F16)
@op('mul{.rn}.T d, a, b', T=_BF16)
def mul(b: Builder, i: Form, x: str, y: str) -> str:
    return _arithmetic(b, i, 'fmul', x, y)


def _arithmetic(b: Builder, i: Form, name: str, x: str, y: str) -> str:
    def half(x: str, y: str) -> str:
        x, y = floats.sources(b, i, x, y, llvm='half')
        return floats.result(b, i, b.inst(f'{name} half {x}, {y}'), 'half')

    def bfloat(x: str, y: str) -> str:
        # In double precision: a product is exact, and a sum of 53 bits
        # rounds to 8 bits as the exact one does.
        x, y = (floats.widen(b, 'float', halves.widen(b, kind, v))
                for v in (x, y))
        value = b.inst(f'{name} double {x}, {y}')
        return halves.narrow(b, kind, value, src='double')

    kind = halves.element(i.T)
    return halves.each(b, i.T, half if _is_half(i) else bfloat, x, y)


@op('fma.rn{.ftz}{.sat|relu}.T d, a, b, c', T=_F16)
@op('fma.rn{.relu}.T d, a, b, c', T=_BF16)
def fma(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    function = _fma_half if _is_half(i) else _fma_bfloat
    return halves.each(b, i.T, functools.partial(function, b, i), x, y, z)


def _fma_half(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    """Rounds once: the sum of a product (22 bits) and a number is exact in
    double precision unless one of them is too small to matter."""
    x, y, z = (floats.widen(b, 'half', v) for v in
               floats.sources(b, i, x, y, z, llvm='half'))
    total = floats.intrinsic(b, 'fma', 'double', x, y, z)
    value = rounding.narrow(b, 'rn', total, dst='half')
    return floats.result(b, i, value, 'half')


def _fma_bfloat(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    kind = halves.element(i.T)
    x, y, z = (floats.widen(b, 'float', halves.widen(b, kind, v))
               for v in (x, y, z))
    product = b.inst(f'fmul double {x}, {y}')
    total, rest = rounding.split_sum(b, product, z)
    single = floats.result(b, i, rounding.narrow(b, 'odd', total, rest))
    return halves.narrow(b, kind, single)


@op('abs{.ftz}.T d, a', T=_F16)
def absolute(b: Builder, i: Form, x: str) -> str:
    return halves.each(b, i.T, lambda x: floats.intrinsic(
        b, 'fabs', 'half', *floats.sources(b, i, x, llvm='half')), x)


@op('neg{.ftz}.T d, a', T=_F16)
def neg(b: Builder, i: Form, x: str) -> str:
    return halves.each(b, i.T, lambda x: b.inst(
        f'fneg half {floats.sources(b, i, x, llvm="half")[0]}'), x)


@op('abs.T d, a', T=_BF16)
def abs_bfloat(b: Builder, i: Form, x: str) -> str:
    return halves.each(
        b, i.T, lambda x: b.inst(f'and i16 {x}, {2 ** 15 - 1}'), x)


@op('neg.T d, a', T=_BF16)
def neg_bfloat(b: Builder, i: Form, x: str) -> str:
    return halves.each(
        b, i.T, lambda x: b.inst(f'xor i16 {x}, {-2 ** 15}'), x)


@op('min{.ftz}{.NaN}{.xorsign.abs}.T d, a, b', T=_F16)
@op('min{.NaN}{.xorsign.abs}.T d, a, b', T=_BF16)
def minimum(b: Builder, i: Form, x: str, y: str) -> str:
    return _minmax(b, i, 'minimum', x, y)


@op('max{.ftz}{.NaN}{.xorsign.abs}.T d, a, b', T=_F16)
@op('max{.NaN}{.xorsign.abs}.T d, a, b', T=_BF16)
def maximum(b: Builder, i: Form, x: str, y: str) -> str:
    return _minmax(b, i, 'maximum', x, y)


def _minmax(b: Builder, i: Form, name: str, x: str, y: str) -> str:
    def half(x: str, y: str) -> str:
        x, y = floats.sources(b, i, x, y, llvm='half')
        return floats.minmax(b, i, name, 'half', x, y)

    def bfloat(x: str, y: str) -> str:
        x, y = (halves.widen(b, kind, v) for v in (x, y))
        return halves.narrow(b, kind, floats.minmax(
            b, i, name, 'float', x, y))

    kind = halves.element(i.T)
    return halves.each(b, i.T, half if _is_half(i) else bfloat, x, y)


@op('ex2.approx.T d, a', T=_F16)
def ex2(b: Builder, i: Form, x: str) -> str:
    return _through_single(b, i, approx.exp2, x)


@op('ex2.approx.ftz.T d, a', T=_BF16)
def ex2_bfloat(b: Builder, i: Form, x: str) -> str:
    return _through_single(
        b, i, lambda b, x: floats.flush(b, approx.exp2(b, x)), x)


@op('tanh.approx.T d, a', T=_F16 + _BF16)
def tanh(b: Builder, i: Form, x: str) -> str:
    return _through_single(b, i, approx.tanh, x)


def _through_single(b: Builder, i: Form,
                    function: Callable[[Builder, str], str], x: str) -> str:
    """Applies a function in single precision to each element."""
    kind = halves.element(i.T)
    return halves.each(b, i.T, lambda x: halves.narrow(
        b, kind, function(b, halves.widen(b, kind, x))), x)
