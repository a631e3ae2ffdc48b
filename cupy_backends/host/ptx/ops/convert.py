"""Conversions between numeric types.

Source: PTX ISA, "Data Movement and Conversion Instructions" (``cvt``,
``cvt.pack``).
"""
from __future__ import annotations

import functools

from cupy_backends.host.ptx import bits
from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import floats
from cupy_backends.host.ptx import halves
from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx import rounding

op = functools.partial(
    optable.op, section='Data Movement and Conversion Instructions: cvt')

Builder = builder.Builder
Form = optable.Form

_INT = tuple(f'{kind}{size}' for kind in 'us' for size in (8, 16, 32, 64))
_HALF = ('f16', 'bf16')
_MODES = rounding.MODES
# Rounding to an integral value, by LLVM intrinsic.
_INTEGRAL = {'rni': 'roundeven', 'rzi': 'trunc', 'rmi': 'floor',
             'rpi': 'ceil'}


def _limits(ptx: dtypes.PTXType) -> tuple[int, int]:
    if ptx.signed:
        return -2 ** (ptx.bits - 1), 2 ** (ptx.bits - 1) - 1
    return 0, 2 ** ptx.bits - 1


# ---- integer to integer ---------------------------------------------------

@op('cvt.D.S d:D, a:S', D=_INT, S=_INT)
def cvt_int(b: Builder, i: Form, x: str) -> str:
    src = i.srcs[0]
    return bits.resize(b, x, src.bits, i.dests[0].bits, src.signed)


@op('cvt.sat.D.S d:D, a:S', D=_INT, S=_INT)
def cvt_int_sat(b: Builder, i: Form, x: str) -> str:
    return cvt_int(b, i, _clamp(b, i.srcs[0], i.dests[0], x))


def _clamp(b: Builder, src: dtypes.PTXType, dst: dtypes.PTXType,
           x: str) -> str:
    """Limits an integer, still of type ``src``, to the range of ``dst``."""
    (least, most), (low, high) = _limits(src), _limits(dst)
    if low > least:
        x = bits.minmax(b, 'max', src, x, str(low))
    if high < most:
        x = bits.minmax(b, 'min', src, x, str(high))
    return x


# ---- floating point to integer --------------------------------------------

@op('cvt.RND{.ftz}{.sat}.D.S d:D, a:S', RND=tuple(_INTEGRAL), D=_INT,
    S=('f32',))
@op('cvt.RND{.sat}.D.S d:D, a:S', RND=tuple(_INTEGRAL), D=_INT,
    S=(*_HALF, 'f64'))
def cvt_float_to_int(b: Builder, i: Form, x: str) -> str:
    """Rounds and clamps.

    NaN gives 0, but the pattern of the least signed number when the source
    or the destination has 64 bits.
    """
    src, dst = i.srcs[0], i.dests[0]
    if src.name in _HALF:
        x = halves.widen(b, src, x)
    x, = floats.sources(b, i, x)
    llvm = 'double' if src.bits == 64 else 'float'
    if i.vars['RND'] != 'rzi':
        x = floats.intrinsic(b, _INTEGRAL[i.vars['RND']], llvm, x)
    kind = 's' if dst.signed else 'u'
    suffix = 'f64' if llvm == 'double' else 'f32'
    value = b.call(dst.llvm, f'llvm.fpto{kind}i.sat.{dst.llvm}.{suffix}',
                   [(llvm, x)])
    if 64 not in (src.bits, dst.bits):
        return value
    nan = b.inst(f'fcmp uno {llvm} {x}, 0.0')
    return b.select(nan, dst.llvm, str(-2 ** (dst.bits - 1)), value)


# ---- integer to floating point --------------------------------------------

@op('cvt.RND{.ftz}{.sat}.D.S d:D, a:S', RND=_MODES, D=('f32',), S=_INT)
@op('cvt.RND{.sat}.D.S d:D, a:S', RND=_MODES, D=('f16', 'f64'), S=_INT)
@op('cvt.RND.D.S d:D, a:S', RND=_MODES, D=('bf16',), S=_INT)
def cvt_int_to_float(b: Builder, i: Form, x: str) -> str:
    src, dst, mode = i.srcs[0], i.dests[0], i.vars['RND']
    if dst.name in _HALF:
        value = _int_to_half(b, mode, src, dst, x)
    elif mode == 'rn' or (dst.bits == 64 and src.bits < 64):
        value = _plain(b, src, dst.llvm, x)
    elif src.bits < 64:
        value = rounding.narrow(b, mode, _plain(b, src, 'double', x))
    else:
        high, low = _split_int(b, src, x)
        value = rounding.add(b, 'double', mode, high, low) \
            if dst.bits == 64 else rounding.narrow(
                b, mode, *rounding.split_sum(b, high, low))
    return floats.saturate(b, value, dst.llvm) if i.sat else value


def _plain(b: Builder, src: dtypes.PTXType, llvm: str, x: str) -> str:
    kind = 's' if src.signed else 'u'
    return b.inst(f'{kind}itofp {src.llvm} {x} to {llvm}')


def _split_int(b: Builder, src: dtypes.PTXType, x: str) -> tuple[str, str]:
    """Returns two doubles whose exact sum is a 64-bit integer."""
    low = b.inst(f'and i64 {x}, {2 ** 32 - 1}')
    high = b.inst(f'sub i64 {x}, {low}')
    return (_plain(b, src, 'double', high), _plain(b, src, 'double', low))


def _int_to_half(b: Builder, mode: str, src: dtypes.PTXType,
                 dst: dtypes.PTXType, x: str) -> str:
    if src.bits < 64:
        return halves.narrow(b, dst, _plain(b, src, 'double', x), mode,
                             src='double')
    high, low = _split_int(b, src, x)
    total, rest = rounding.split_sum(b, high, low)
    # The integers that a double cannot hold are infinite in half precision.
    return halves.narrow(b, dst, total, mode, src='double',
                         rest=rest if dst.name == 'bf16' else '')


# ---- floating point to floating point -------------------------------------

@op('cvt{.RND}{.ftz}{.sat}.f32.f32 d:f32, a:f32', RND=tuple(_INTEGRAL))
@op('cvt{.RND}{.sat}.f64.f64 d:f64, a:f64', RND=tuple(_INTEGRAL))
@op('cvt{.RND}{.sat}.f16.f16 d:f16, a:f16', RND=tuple(_INTEGRAL))
def cvt_same(b: Builder, i: Form, x: str) -> str:
    """Rounds to an integral value, or only flushes or saturates."""
    llvm = i.dests[0].llvm
    x, = floats.sources(b, i, x)
    if 'RND' in i.vars:
        name = _INTEGRAL[i.vars['RND']]
        x = floats.intrinsic(b, name, llvm, x)
    return floats.saturate(b, x, llvm) if i.sat else x


@op('cvt{.RND}.bf16.bf16 d:bf16, a:bf16', RND=tuple(_INTEGRAL))
def cvt_same_bfloat(b: Builder, i: Form, x: str) -> str:
    if 'RND' not in i.vars:
        return x
    kind = i.dests[0]
    wide = halves.widen(b, kind, x)
    return halves.narrow(b, kind, floats.intrinsic(
        b, _INTEGRAL[i.vars['RND']], 'float', wide))


@op('cvt{.ftz}{.sat}.f64.f32 d:f64, a:f32')
def cvt_f64_f32(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    value = floats.widen(b, 'float', x)
    return floats.saturate(b, value, 'double') if i.sat else value


@op('cvt{.ftz}{.sat}.f32.f16 d:f32, a:f16')
@op('cvt{.ftz}{.sat}.f32.bf16 d:f32, a:bf16')
def cvt_widen(b: Builder, i: Form, x: str) -> str:
    return floats.result(b, i, halves.widen(b, i.srcs[0], x))


@op('cvt{.sat}.f64.f16 d:f64, a:f16')
@op('cvt{.sat}.f64.bf16 d:f64, a:bf16')
def cvt_widen_twice(b: Builder, i: Form, x: str) -> str:
    value = floats.widen(b, 'float', halves.widen(b, i.srcs[0], x))
    return floats.result(b, i, value, 'double')


@op('cvt.RND{.ftz}{.sat}.f32.f64 d:f32, a:f64', RND=_MODES)
def cvt_f32_f64(b: Builder, i: Form, x: str) -> str:
    return floats.result(b, i, rounding.narrow(b, i.vars['RND'], x))


@op('cvt.RND{.ftz}{.sat|relu}.D.f32 d:D, a:f32', RND=_MODES, D=_HALF)
def cvt_half_f32(b: Builder, i: Form, x: str) -> str:
    x, = floats.sources(b, i, x)
    return halves.narrow(b, i.dests[0], _limited(b, i, x, 'float'),
                         i.vars['RND'])


@op('cvt.RND{.sat}.D.f64 d:D, a:f64', RND=_MODES, D=_HALF)
def cvt_half_f64(b: Builder, i: Form, x: str) -> str:
    return halves.narrow(b, i.dests[0], _limited(b, i, x, 'double'),
                         i.vars['RND'], src='double')


def _limited(b: Builder, i: Form, x: str, llvm: str) -> str:
    """Applies ``.sat`` and ``.relu`` before rounding: it is monotonic and
    keeps 0 and 1, so that the order does not matter."""
    if i.sat:
        x = floats.saturate(b, x, llvm)
    return floats.rectify(b, x, llvm) if 'relu' in i.mods else x


@op('cvt.RND{.relu}.D.f32 d:D, a:f32, b:f32', RND=('rn', 'rz'),
    D=('f16x2', 'bf16x2'))
def cvt_pair(b: Builder, i: Form, high: str, low: str) -> str:
    """Converts two numbers; the first operand goes to the upper half."""
    kind = halves.element(i.dests[0])
    upper, lower = (halves.narrow(
        b, kind, _limited(b, i, x, 'float'), i.vars['RND'])
        for x in (high, low))
    return halves.pack(b, i.dests[0], lower, upper)


@op('cvt.rna.tf32.f32 d:b32, a:f32')
def cvt_tf32(b: Builder, i: Form, x: str) -> str:
    """Rounds to 11 bits, halfway cases away from zero."""
    pattern = floats.to_bits(b, 'float', x)
    raised = b.inst(f'add i32 {pattern}, {2 ** 12}')
    number = b.call('i1', 'llvm.is.fpclass.f32', [
        ('float', x), ('i32', str(0x1f8))])
    value = b.select(number, 'i32', raised, pattern)
    value = b.inst(f'and i32 {value}, {-2 ** 13}')
    nan = b.inst(f'fcmp uno float {x}, 0.0')
    return b.select(nan, 'i32', str(0x7fffffff), value)


# ---- packing --------------------------------------------------------------

@op('cvt.pack.sat.D.s32 d:b32, a:s32, b:s32', D=('u16', 's16'))
def cvt_pack(b: Builder, i: Form, high: str, low: str) -> str:
    return _pack(b, i, high, low)


@op('cvt.pack.sat.D.s32.b32 d:b32, a:s32, b:s32, c:b32', D=('u8', 's8'))
def cvt_pack_onto(b: Builder, i: Form, high: str, low: str,
                  rest: str) -> str:
    """Packs two bytes below the lower half of the third operand."""
    upper = b.inst(f'shl i32 {rest}, 16')
    return b.inst(f'or i32 {upper}, {_pack(b, i, high, low)}')


def _pack(b: Builder, i: Form, high: str, low: str) -> str:
    dst = dtypes.TYPES[i.vars['D']]
    mask = 2 ** dst.bits - 1
    upper, lower = (b.inst(f'and i32 {_clamp(b, i.srcs[0], dst, x)}, {mask}')
                    for x in (high, low))
    return b.inst(f'or i32 {b.inst(f"shl i32 {upper}, {dst.bits}")}, {lower}')
