"""Comparison and selection.

Source: PTX ISA, "Comparison and Selection Instructions" and "Half Precision
Comparison Instructions".
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
import functools

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import floats
from cupy_backends.host.ptx import halves
from cupy_backends.host.ptx import optable

op = functools.partial(
    optable.op, section='Comparison and Selection Instructions')

Builder = builder.Builder
Form = optable.Form

_EQUALITY = ('eq', 'ne')
_ORDER = (*_EQUALITY, 'lt', 'le', 'gt', 'ge')
# "lower", "same", "higher": other names for unsigned types.
_UNSIGNED = {'lo': 'lt', 'ls': 'le', 'hi': 'gt', 'hs': 'ge'}
# The plain names are false for NaN; those with a u are true for it.
_FLOAT = {
    'eq': 'oeq', 'ne': 'one', 'lt': 'olt', 'le': 'ole', 'gt': 'ogt',
    'ge': 'oge', 'equ': 'ueq', 'neu': 'une', 'ltu': 'ult', 'leu': 'ule',
    'gtu': 'ugt', 'geu': 'uge', 'num': 'ord', 'nan': 'uno'}
_BOOL = ('and', 'or', 'xor')

_INT_RESULTS = ('u32', 's32')
_HALF_RESULTS = ('u16', 's16', *_INT_RESULTS)
_RESULTS = (*_INT_RESULTS, 'f32', 'f16', 'bf16')


def _comparison(pattern: str, names: Iterable[str], types: tuple[str, ...],
                results: tuple[str, ...] = ()
                ) -> Callable[[optable.F], optable.F]:
    """Registers a family, without and with a third predicate."""
    def register(function: optable.F) -> optable.F:
        cmp = tuple(names)
        op(pattern, CMP=cmp, T=types, D=results)(function)
        op(pattern.replace('.CMP', '.CMP.BOOL') + ', c:pred', CMP=cmp,
           T=types, D=results, BOOL=_BOOL)(function)
        return function
    return register


def compare(b: Builder, i: Form, ptx: dtypes.PTXType, x: str,
            y: str) -> str:
    """Returns the outcome of the instruction's comparison, an ``i1``."""
    name = i.vars['CMP']
    if not ptx.is_float:
        name = _UNSIGNED.get(name, name)
        sign = '' if name in _EQUALITY else 's' if ptx.signed else 'u'
        return b.inst(f'icmp {sign}{name} {ptx.llvm} {x}, {y}')
    llvm = ptx.llvm
    if ptx.kind == 'bf':
        llvm = 'float'
        x, y = (halves.widen(b, ptx, v) for v in (x, y))
    x, y = floats.sources(b, i, x, y, llvm=llvm)
    return b.inst(f'fcmp {_FLOAT[name]} {llvm} {x}, {y}')


def _combine(b: Builder, i: Form, value: str, other: str) -> str:
    if not other:
        return value
    return b.inst(f'{i.vars["BOOL"]} i1 {value}, {other}')


_SETP = 'setp.CMP.T p:pred|q:pred, a, b'
_SETP_FTZ = 'setp.CMP{.ftz}.T p:pred|q:pred, a, b'


@_comparison(_SETP, _EQUALITY, dtypes.BITS)
@_comparison(_SETP, _ORDER, dtypes.SINT)
@_comparison(_SETP, (*_ORDER, *_UNSIGNED), dtypes.UINT)
@_comparison(_SETP, _FLOAT, ('f64', 'bf16'))
@_comparison(_SETP_FTZ, _FLOAT, ('f32', 'f16'))
def setp(b: Builder, i: Form, x: str, y: str,
         other: str = '') -> tuple[str, str]:
    """Gives the comparison and its opposite, each combined with a third
    predicate if there is one."""
    found = compare(b, i, i.T, x, y)
    opposite = b.inst(f'xor i1 {found}, true')
    return _combine(b, i, found, other), _combine(b, i, opposite, other)


@_comparison(_SETP, _FLOAT, ('bf16x2',))
@_comparison(_SETP_FTZ, _FLOAT, ('f16x2',))
def setp_packed(b: Builder, i: Form, x: str, y: str,
                other: str = '') -> tuple[str, str]:
    """Gives the comparisons of the lower and of the upper elements."""
    kind = halves.element(i.T)
    pairs = zip(halves.elements(b, i.T, x), halves.elements(b, i.T, y),
                strict=True)
    low, high = (_combine(b, i, compare(b, i, kind, *p), other)
                 for p in pairs)
    return low, high


_SET = 'set.CMP.D.T d:D, a, b'
_SET_FTZ = 'set.CMP{.ftz}.D.T d:D, a, b'


@_comparison(_SET, _EQUALITY, dtypes.BITS, _RESULTS)
@_comparison(_SET, _ORDER, dtypes.SINT, _RESULTS)
@_comparison(_SET, (*_ORDER, *_UNSIGNED), dtypes.UINT, _RESULTS)
@_comparison(_SET, _FLOAT, ('f64',), _RESULTS)
@_comparison(_SET_FTZ, _FLOAT, ('f32',), _RESULTS)
@_comparison(_SET_FTZ, _FLOAT, ('f16',), (*_HALF_RESULTS, 'f16'))
@_comparison(_SET, _FLOAT, ('bf16',), (*_HALF_RESULTS, 'bf16'))
def set_(b: Builder, i: Form, x: str, y: str, other: str = '') -> str:
    """Gives 1.0, or all ones for an integer, where the comparison holds."""
    value = _combine(b, i, compare(b, i, i.T, x, y), other)
    return _as_number(b, i.dests[0], value)


def _as_number(b: Builder, ptx: dtypes.PTXType, value: str) -> str:
    if not ptx.is_float:
        return b.cast('sext', value, 'i1', ptx.llvm)
    if ptx.kind == 'bf':
        return b.select(value, 'i16', str(0x3f80), '0')
    return b.select(value, ptx.llvm, floats.constant(1.0, ptx.llvm),
                    floats.constant(0.0, ptx.llvm))


@_comparison(_SET_FTZ, _FLOAT, ('f16x2',), ('f16x2',))
@_comparison(_SET, _FLOAT, ('bf16x2',), ('bf16x2',))
def set_packed(b: Builder, i: Form, x: str, y: str, other: str = '') -> str:
    kind = halves.element(i.T)
    return halves.each(b, i.T, lambda x, y: _as_number(b, kind, _combine(
        b, i, compare(b, i, kind, x, y), other)), x, y)


@op('selp.T d, a, b, c:pred',
    T=dtypes.BITS + dtypes.INT + dtypes.FLOAT + ('f16', 'bf16'))
def selp(b: Builder, i: Form, x: str, y: str, p: str) -> str:
    return b.select(p, i.T.llvm, x, y)


@op('slct.T.s32 d, a, b, c:s32', T=dtypes.BITS + dtypes.INT + dtypes.FLOAT)
def slct(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    return b.select(b.inst(f'icmp sge i32 {z}, 0'), i.T.llvm, x, y)


@op('slct{.ftz}.T.f32 d, a, b, c:f32',
    T=dtypes.BITS + dtypes.INT + dtypes.FLOAT)
def slct_float(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    """Selects by sign; -0 counts as positive, NaN as negative."""
    z, = floats.sources(b, i, z)
    zero = floats.constant(0.0)
    return b.select(b.inst(f'fcmp oge float {z}, {zero}'), i.T.llvm, x, y)
