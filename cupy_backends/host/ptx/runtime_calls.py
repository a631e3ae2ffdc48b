"""Functions that CUDA's device runtime provides: printf, malloc, assert.

They are declared ``.extern`` in PTX and end up in the C++ library; the
signatures are those of ``csrc/kernel_abi.h``.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import special

if TYPE_CHECKING:
    from cupy_backends.host.ptx import writer

# Called with the arguments; returns type and value of a result.
Result = tuple[dtypes.PTXType, str]
Call = Callable[['writer.Writer', list[str]], 'Result | None']

_U64 = dtypes.TYPES['u64']

FUNCTIONS: dict[str, Call] = {}


def _function(name: str) -> Callable[[Call], Call]:
    def register(call: Call) -> Call:
        FUNCTIONS[name] = call
        return call
    return register


def _argument(w: writer.Writer, text: str, type_name: str) -> str:
    """Returns an argument, from its parameter variable or register."""
    kind = dtypes.TYPES[type_name]
    if text in w.variables:
        return w.inst(f'load {kind.llvm}, ptr {w.variables[text]}')
    return w.source(text, kind)


def _pointer(w: writer.Writer, text: str) -> str:
    return w.pointer(_argument(w, text, 'u64'))


@_function('vprintf')
def _vprintf(w: writer.Writer, params: list[str]) -> Result | None:
    arguments = [('ptr', _pointer(w, text)) for text in params]
    return dtypes.TYPES['s32'], w.call('i32', 'hd_rt_vprintf', arguments)


@_function('malloc')
def _malloc(w: writer.Writer, params: list[str]) -> Result | None:
    size = _argument(w, params[0], 'u64')
    pointer = w.call('ptr', 'hd_rt_malloc', [('i64', size)])
    return _U64, w.inst(f'ptrtoint ptr {pointer} to i64')


@_function('free')
def _free(w: writer.Writer, params: list[str]) -> Result | None:
    w.call('void', 'hd_rt_free', [('ptr', _pointer(w, params[0]))])
    return None


@_function('__assertfail')
def _assertfail(w: writer.Writer, params: list[str]) -> Result | None:
    message, file, line, function, size = params
    w.call('void', 'hd_rt_assertfail', [
        ('ptr', '%launch'), ('ptr', '%block'),
        ('i32', special.linear_thread(w)),
        ('ptr', _pointer(w, message)), ('ptr', _pointer(w, file)),
        ('i32', _argument(w, line, 'u32')),
        ('ptr', _pointer(w, function)), ('i64', _argument(w, size, 'u64'))])
    return None
