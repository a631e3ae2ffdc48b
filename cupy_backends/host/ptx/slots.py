"""Reads and writes the 32-lane slots of a warp's frame.

A predicate takes a byte there, any other register its own size.
"""
from __future__ import annotations

from cupy_backends.host.ptx import writer


def _stored(llvm: str) -> str:
    return 'i8' if llvm == 'i1' else llvm


def _place(w: writer.Writer, offset: int, llvm: str, lane: str) -> str:
    slot = w.gep('%frame', str(offset))
    return w.inst(f'getelementptr {llvm}, ptr {slot}, i64 {lane}')


def load(w: writer.Writer, offset: int, llvm: str, lane: str) -> str:
    """Returns the value of a lane.

    Args:
        w (Writer): A function with the argument ``%frame``.
        offset (int): Of the slot, in bytes.
        llvm (str): Type of the register.
        lane (str): Number of the lane, an ``i64``.
    """
    stored = _stored(llvm)
    place = _place(w, offset, stored, lane)
    value = w.inst(f'load {stored}, ptr {place}{w.access}')
    return w.cast('trunc', value, stored, llvm)


def store(w: writer.Writer, offset: int, llvm: str, lane: str,
          value: str) -> None:
    """Sets the value of a lane; arguments as of :func:`load`."""
    stored = _stored(llvm)
    value = w.cast('zext', value, llvm, stored)
    place = _place(w, offset, stored, lane)
    w.stmt(f'store {stored} {value}, ptr {place}{w.access}')
