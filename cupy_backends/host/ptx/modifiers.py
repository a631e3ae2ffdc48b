"""Reads the modifiers of memory instructions.

Source: PTX ISA, sections "ld", "st", "atom", "red" and "Memory Consistency
Model".
"""
from __future__ import annotations

from typing import NamedTuple

from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer

_SPACES = ('global', 'shared', 'local', 'param', 'const', 'shared::cta',
           'param::entry', 'param::func')
# Semantics of the access, as LLVM atomic orderings.
_ORDERS = {'relaxed': 'monotonic', 'acquire': 'acquire',
           'release': 'release', 'acq_rel': 'acq_rel', 'sc': 'seq_cst'}
# Who may see it when, and hints to caches: all of one coherent memory here.
_IGNORED = frozenset((
    'weak', 'cta', 'gpu', 'sys', 'cluster', 'nc', 'ca', 'cg', 'cs', 'lu',
    'cv', 'wb', 'wt', 'noftz', 'mmio', 'unified'))
_HINTS = ('L1::', 'L2::', 'level::')
_VECTORS = {'v2': 2, 'v4': 4, 'v8': 8}


class Access(NamedTuple):
    """How memory is accessed.

    Attributes:
        space (str): State space, or the empty string for generic.
        order (str): LLVM ordering, or the empty string if not atomic.
        volatile (bool): Whether the access must be made as written.
        lanes (int): Number of vector elements.
        type (PTXType): Type of an element.
        op (str): Operation of an atomic.
    """

    space: str
    order: str
    volatile: bool
    lanes: int
    type: dtypes.PTXType
    op: str


def read(inst: syntax.Inst, ops: frozenset[str] = frozenset()) -> Access:
    """Reads the modifiers of an instruction.

    Args:
        inst (Inst): For example ``ld.acquire.gpu.global.v2.f32``.
        ops (set of str): Operations that may stand among them.

    Raises:
        Reject: One of the modifiers is not supported.
    """
    words = inst.opcode.split('.')[1:]
    kind = dtypes.TYPES.get(words[-1]) if words else None
    if kind is None:
        raise writer.Reject('its type')
    space = order = op = ''
    volatile, count = False, 1
    for word in words[:-1]:
        if word in _SPACES:
            space = word.split('::')[0]
        elif word in _ORDERS:
            order = _ORDERS[word]
        elif word in _VECTORS:
            count = _VECTORS[word]
        elif word == 'volatile':
            volatile = True
        elif word in ops:
            op = word
        elif word not in _IGNORED and not word.startswith(_HINTS):
            raise writer.Reject(f'the modifier .{word}')
    return Access(space, order, volatile, count, kind, op)
