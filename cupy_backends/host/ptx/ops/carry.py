"""Extended-precision integer arithmetic with the carry flag.

The flag ``CC.CF`` holds the carry-out of additions and the borrow-out of
subtractions.

Source: PTX ISA, "Extended-Precision Integer Arithmetic Instructions".
"""
from __future__ import annotations

import functools

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx.ops import integer

op = functools.partial(
    optable.op,
    section='Extended-Precision Integer Arithmetic Instructions')

Builder = builder.Builder
Form = optable.Form

_TYPES = ('u32', 's32', 'u64', 's64', 'b32', 'b64')
_PRODUCTS = ('u32', 's32', 'u64', 's64')


@op('add.cc.T d, a, b', T=_TYPES)
def add_cc(b: Builder, i: Form, x: str, y: str) -> str:
    total = b.inst(f'add {i.T.llvm} {x}, {y}')
    b.set_carry(b.inst(f'icmp ult {i.T.llvm} {total}, {x}'))
    return total


@op('addc{.cc}.T d, a, b', T=_TYPES)
def addc(b: Builder, i: Form, x: str, y: str) -> str:
    carry = b.cast('zext', b.get_carry(), 'i1', i.T.llvm)
    first = b.inst(f'add {i.T.llvm} {x}, {y}')
    total = b.inst(f'add {i.T.llvm} {first}, {carry}')
    if 'cc' in i.mods:
        out = b.inst(f'icmp ult {i.T.llvm} {first}, {x}')
        again = b.inst(f'icmp ult {i.T.llvm} {total}, {first}')
        b.set_carry(b.inst(f'or i1 {out}, {again}'))
    return total


@op('sub.cc.T d, a, b', T=_TYPES)
def sub_cc(b: Builder, i: Form, x: str, y: str) -> str:
    b.set_carry(b.inst(f'icmp ult {i.T.llvm} {x}, {y}'))
    return b.inst(f'sub {i.T.llvm} {x}, {y}')


@op('subc{.cc}.T d, a, b', T=_TYPES)
def subc(b: Builder, i: Form, x: str, y: str) -> str:
    borrow = b.cast('zext', b.get_carry(), 'i1', i.T.llvm)
    first = b.inst(f'sub {i.T.llvm} {x}, {y}')
    if 'cc' in i.mods:
        out = b.inst(f'icmp ult {i.T.llvm} {x}, {y}')
        again = b.inst(f'icmp ult {i.T.llvm} {first}, {borrow}')
        b.set_carry(b.inst(f'or i1 {out}, {again}'))
    return b.inst(f'sub {i.T.llvm} {first}, {borrow}')


@op('mad.HALF.cc.T d, a, b, c', T=_PRODUCTS, HALF=('lo', 'hi'))
def mad_cc(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    return add_cc(b, i, _product(b, i, x, y), z)


@op('madc.HALF{.cc}.T d, a, b, c', T=_PRODUCTS, HALF=('lo', 'hi'))
def madc(b: Builder, i: Form, x: str, y: str, z: str) -> str:
    return addc(b, i, _product(b, i, x, y), z)


def _product(b: Builder, i: Form, x: str, y: str) -> str:
    if i.vars['HALF'] == 'lo':
        return integer.mul_lo(b, i, x, y)
    return integer.high_half(b, i.T, x, y)
