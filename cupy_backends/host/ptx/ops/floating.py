"""Single- and double-precision arithmetic.

Source: PTX ISA, "Floating Point Instructions".
"""
from __future__ import annotations

import functools

from cupy_backends.host.ptx import approx
from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import floats
from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx import rounding

op = functools.partial(optable.op, section='Floating Point Instructions')

Builder = builder.Builder
Form = optable.Form

_F32, _F64 = ('f32',), ('f64',)
_MODES = rounding.MODES


def _mode(i: Form) -> str:
    return i.vars.get('RND', 'rn')


def _contractable(b: Builder, i: Form, name: str, x: str, y: str) -> str:
    """Without a rounding mode, a product and a sum may become one fma, as
    NVIDIA's assembler makes it: the difference shows in ``x - y * z``."""
    return floats.result(
        b, i, b.inst(f'{name} contract {i.T.llvm} {x}, {y}'))


@op('add{.RND}{.ftz}{.sat}.T d, a, b', T=_F32, RND=_MODES)
@op('add{.RND}.T d, a, b', T=_F64, RND=_MODES)
def add(b: Builder, i: Form, x: str, y: str) -> str:
    x, y = floats.sources(b, i, x, y)
    if 'RND' not in i.vars:
        return _contractable(b, i, 'fadd', x, y)
    return floats.result(b, i, rounding.add(b, i.T.llvm, _mode(i), x, y))


@op('sub{.RND}{.ftz}{.sat}.T d, a, b', T=_F32, RND=_MODES)
@op('sub{.RND}.T d, a, b', T=_F64, RND=_MODES)
def sub(b: Builder, i: Form, x: str, y: str) -> str:
    x, y = floats.sources(b, i, x, y)
    if 'RND' not in i.vars:
        return _contractable(b, i, 'fsub', x, y)
    minus = b.inst(f'fneg {i.T.llvm} {y}')
    return floats.result(b, i, rounding.add(b, i.T.llvm, _mode(i), x, minus))


@op('mul{.RND}{.ftz}{.sat}.T d, a, b', T=_F32, RND=_MODES)
@op('mul{.RND}.T d, a, b', T=_F64, RND=_MODES)
def mul(b: Builder, i: Form, x: str, y: str) -> str:
    x, y = floats.sources(b, i, x, y)
    if 'RND' not in i.vars:
        return _contractable(b, i, 'fmul', x, y)
    return floats.result(b, i, rounding.mul(b, i.T.llvm, _mode(i), x, y))


@op('fma.RND{.ftz}{.sat}.T d, a, b, c', T=_F32, RND=_MODES)
@op('fma.RND.T d, a, b, c', T=_F64, RND=_MODES)
@op('mad.RND{.ftz}{.sat}.T d, a, b, c', T=_F32, RND=_MODES)
@op('mad.RND.T d, a, b, c', T=_F64, RND=_MODES)
def fma(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    x, y, z = floats.sources(b, i, x, y, z)
    return floats.result(b, i, rounding.fma(b, i.T.llvm, _mode(i), x, y, z))


@op('div.RND{.ftz}.T d, a, b', T=_F32, RND=(*_MODES, 'approx', 'full'))
@op('div.RND.T d, a, b', T=_F64, RND=_MODES)
def div(b: Builder, i: Form, x: str, y: str) -> str:
    x, y = floats.sources(b, i, x, y)
    return floats.result(b, i, rounding.div(b, i.T.llvm, _rounded(i), x, y))


def _rounded(i: Form) -> str:
    """Returns the rounding mode; nearest is good for an approximation."""
    return _mode(i) if _mode(i) in _MODES else 'rn'


@op('rcp.RND{.ftz}.T d, a', T=_F32, RND=(*_MODES, 'approx'))
@op('rcp.RND.T d, a', T=_F64, RND=_MODES)
def rcp(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    return floats.result(b, i, rounding.div(
        b, i.T.llvm, _rounded(i), floats.constant(1.0), x))


@op('sqrt.RND{.ftz}.T d, a', T=_F32, RND=(*_MODES, 'approx'))
@op('sqrt.RND.T d, a', T=_F64, RND=_MODES)
def sqrt(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    return floats.result(b, i, rounding.sqrt(b, i.T.llvm, _rounded(i), x))


@op('rsqrt.approx{.ftz}.T d, a', T=_F32)
@op('rsqrt.approx.T d, a', T=_F64)
def rsqrt(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    return floats.result(b, i, _inverse_root(b, i.T.llvm, x))


def _inverse_root(b: Builder, llvm: str, x: str) -> str:
    root = floats.intrinsic(b, 'sqrt', llvm, x)
    return b.inst(f'fdiv {llvm} {floats.constant(1.0)}, {root}')


@op('rcp.approx.ftz.T d, a', T=_F64)
def rcp_upper(b: Builder, i: Form, x: str) -> str:
    """Takes and gives the upper 32 bits of a double only; the lower ones
    are ignored and zero, and subnormal numbers are flushed."""
    inverse = b.inst(f'fdiv double {floats.constant(1.0)}, '
                     + _upper(b, x, flush=True))
    return _upper(b, inverse, flush=True)


@op('rsqrt.approx.ftz.T d, a', T=_F64)
def rsqrt_upper(b: Builder, i: Form, x: str) -> str:
    """As :func:`rcp_upper`; the result is never subnormal."""
    root = _inverse_root(b, 'double', _upper(b, x, flush=True))
    return _upper(b, root, flush=False)


def _upper(b: Builder, x: str, *, flush: bool) -> str:
    bits = floats.to_bits(b, 'double', x)
    upper = b.inst(f'and i64 {bits}, {-2 ** 32}')
    if flush:
        # As a test of bits it also keeps a NaN whose payload is low.
        sign = b.inst(f'and i64 {bits}, {-2 ** 63}')
        field = b.inst(f'and i64 {bits}, {2047 << 52}')
        tiny = b.inst(f'icmp eq i64 {field}, 0')
        upper = b.select(tiny, 'i64', sign, upper)
    return floats.from_bits(b, 'double', upper)


@op('abs{.ftz}.T d, a', T=_F32)
@op('abs.T d, a', T=_F64)
def absolute(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    return _still_flushed(b, i, floats.intrinsic(b, 'fabs', i.T.llvm, x))


@op('neg{.ftz}.T d, a', T=_F32)
@op('neg.T d, a', T=_F64)
def neg(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    return _still_flushed(b, i, b.inst(f'fneg {i.T.llvm} {x}'))


def _still_flushed(b: Builder, i: Form, x: str) -> str:
    """Records that a result is not subnormal because its operands aren't."""
    if i.ftz:
        b.flushed.add(x)
    return x


@op('min{.ftz}{.NaN}{.xorsign.abs}.T d, a, b', T=_F32)
@op('min.T d, a, b', T=_F64)
def minimum(b: Builder, i: Form, x: str, y: str) -> str:
    x, y = floats.sources(b, i, x, y)
    least = floats.minmax(b, i, 'minimum', i.T.llvm, x, y)
    return _still_flushed(b, i, least)


@op('max{.ftz}{.NaN}{.xorsign.abs}.T d, a, b', T=_F32)
@op('max.T d, a, b', T=_F64)
def maximum(b: Builder, i: Form, x: str, y: str) -> str:
    x, y = floats.sources(b, i, x, y)
    most = floats.minmax(b, i, 'maximum', i.T.llvm, x, y)
    return _still_flushed(b, i, most)


@op('copysign.T d, a, b', T=dtypes.FLOAT)
def copysign(b: Builder, i: Form, sign: str, size: str) -> str:
    """Gives the sign of the first operand to the second one."""
    return floats.intrinsic(b, 'copysign', i.T.llvm, size, sign)


# Classes of numbers in the encoding of llvm.is.fpclass.
_CLASSES = {'finite': 0x1f8, 'infinite': 0x204, 'number': 0x3fc,
            'notanumber': 0x003, 'normal': 0x108, 'subnormal': 0x090}


@op('testp.CLASS.T p:pred, a', T=dtypes.FLOAT, CLASS=tuple(_CLASSES))
def testp(b: Builder, i: Form, x: str) -> str:
    return b.call('i1', f'llvm.is.fpclass.{i.T.name}', [
        (i.T.llvm, x), ('i32', str(_CLASSES[i.vars['CLASS']]))])


@op('ex2.approx{.ftz}.T d, a', T=_F32)
def ex2(b: Builder, i: Form, x: str) -> str:
    # A subnormal operand gives 1, flushed or not.
    return floats.result(b, i, approx.exp2(b, x))


@op('lg2.approx{.ftz}.T d, a', T=_F32)
def lg2(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    return floats.result(b, i, approx.log2(b, x))


@op('sin.approx{.ftz}.T d, a', T=_F32)
def sin(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    return floats.result(b, i, approx.sin(b, x))


@op('cos.approx{.ftz}.T d, a', T=_F32)
def cos(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    return floats.result(b, i, approx.cos(b, x))


@op('tanh.approx.T d, a', T=_F32)
def tanh(b: Builder, i: Form, x: str) -> str:
    return approx.tanh(b, x)
