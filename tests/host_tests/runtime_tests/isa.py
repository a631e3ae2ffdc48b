"""Warp operations as the PTX ISA defines them, lane by lane.

Sources: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync" and
"Parallel Synchronization and Communication Instructions: vote.sync,
match.sync, redux.sync, elect.sync".

All functions take the executing lanes (the member mask, as a list) and the
operands by lane, and return a dict of results by lane.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import operator

UP, DOWN, BFLY, IDX = range(4)


def shuffle_source(op: int, lane: int, b: int, c: int) -> tuple[int, bool]:
    """Returns the source lane and whether it is in range."""
    bval, cval = b & 31, c & 31
    segmask = c >> 8 & 31
    max_lane = (lane & segmask) | (cval & ~segmask & 31)
    min_lane = lane & segmask
    if op == UP:
        j = lane - bval
        inside = j >= max_lane
    elif op == DOWN:
        j = lane + bval
        inside = j <= max_lane
    elif op == BFLY:
        j = lane ^ bval
        inside = j <= max_lane
    else:
        j = min_lane | (bval & ~segmask & 31)
        inside = j <= max_lane
    return (j, True) if inside else (lane, False)


def vote(op: int, lanes: Sequence[int],
         predicate: Sequence[int]) -> int | bool:
    """Returns the result of all, any, uni (0 to 2) or ballot (3)."""
    values = [bool(predicate[n]) for n in lanes]
    if op == 3:
        return sum(1 << n for n in lanes if predicate[n])
    return (all(values), any(values), len(set(values)) == 1)[op]


def match_any(lanes: Sequence[int], a: Sequence[int]) -> dict[int, int]:
    return {n: sum(1 << m for m in lanes if a[m] == a[n]) for n in lanes}


def match_all(lanes: Sequence[int], a: Sequence[int]) -> tuple[int, bool]:
    same = len({a[n] for n in lanes}) == 1
    return (sum(1 << n for n in lanes) if same else 0), same


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


_REDUX: list[Callable[[int, int], int]] = [
    lambda x, y: (x + y) & 0xffffffff, min,
    lambda x, y: min(x, y, key=_signed), max,
    lambda x, y: max(x, y, key=_signed),
    operator.and_, operator.or_, operator.xor]


def redux(op: int, lanes: Sequence[int], a: Sequence[int]) -> int:
    return functools.reduce(_REDUX[op], (a[n] for n in lanes))
