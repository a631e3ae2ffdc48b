"""A scheduler for the phases of one block, as ``csrc/kernel_abi.h`` has it.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

EXITED = 0xffffffff
LANES = 32
RunPhase = Callable[[int, int, int, int], None]


class Warp:
    """The frame of a warp and the stops of its lanes."""

    def __init__(self, number: int, threads: int, frame_bytes: int,
                 stops: Sequence[Sequence[int]]) -> None:
        self.number = number
        self.stops = stops
        self._memory = numpy.full(frame_bytes + 128, 0xa5, 'u1')
        shift = -self._memory.ctypes.data % 128
        self.frame = self._memory[shift:shift + frame_bytes]
        self.lanes = [n for n in range(LANES)
                      if number * LANES + n < threads]
        self.words = self.slot(0, 'u4')

    def slot(self, offset: int, dtype: str) -> Any:
        size = numpy.dtype(dtype).itemsize * LANES
        return self.frame[offset:offset + size].view(dtype)

    def alive(self) -> list[int]:
        return [n for n in self.lanes if self.words[n] != EXITED]

    def operand(self, stop: Sequence[int], number: int, lane: int,
                dtype: str = 'u4') -> int:
        """Returns operand a, b, c or mask (0 to 3) of a lane."""
        value = stop[4 + number]
        if stop[8] >> number & 1:
            return value & 0xffffffff
        return int(self.slot(value, dtype)[lane])

    def give(self, stop: Sequence[int], number: int, lane: int,
             value: int) -> None:
        """Sets dst (0) or dst2 (1) of a lane."""
        if stop[2 + number] >= 0:
            self.slot(stop[2 + number], ('u4', 'u1')[number])[lane] = value


def run_block(run: RunPhase, threads: int, stops: Sequence[Sequence[int]],
              frame_bytes: int) -> None:
    """Runs all threads of a block to their end."""
    warps = [Warp(n, threads, frame_bytes, stops)
             for n in range(-(-threads // LANES))]

    def resume(warp: Warp, phase: int, lanes: Sequence[int]) -> None:
        if lanes:
            run(phase, warp.frame.ctypes.data, warp.number,
                sum(1 << n for n in lanes))
    for warp in warps:
        resume(warp, 0, warp.lanes)
    while any(warp.alive() for warp in warps):
        progress = False
        for warp in warps:
            progress |= _step_warp(warp, resume)
        progress = progress or _step_block(warps, resume)
        assert progress, 'deadlock'


def _step_warp(warp: Warp, resume: Any) -> bool:
    """Carries out warp operations that all of their members reached."""
    done = False
    for number in sorted({int(warp.words[n]) for n in warp.alive()}):
        stop = warp.stops[number]
        lanes = [n for n in warp.alive() if warp.words[n] == number]
        if stop[0] in (1, 2):
            continue
        if stop[0] not in (8, 10):
            lanes = _members(warp, stop, lanes)
        if lanes:
            OPERATIONS[stop[0]](warp, stop, lanes)
            resume(warp, number + 1, lanes)
            done = True
    return done


def _members(warp: Warp, stop: Sequence[int],
             lanes: list[int]) -> list[int]:
    """Returns the lanes of the first complete member mask."""
    for lane in lanes:
        mask = warp.operand(stop, 3, lane)
        wanted = [n for n in warp.alive() if mask >> n & 1]
        if all(n in lanes for n in wanted):
            return wanted
    return []


def _step_block(warps: list[Warp], resume: Any) -> bool:
    """Opens barrier 0 when all threads of the block that live wait."""
    waiting = [(w, n, int(w.words[n])) for w in warps for n in w.alive()]
    found = [w.stops[s] for w, _, s in waiting]
    if not waiting or any(stop[0] not in (1, 2) for stop in found):
        return False
    predicates = [w.operand(w.stops[s], 2, n, 'u1') for w, n, s in waiting
                  if w.stops[s][0] == 2]
    results = (sum(predicates), all(predicates), any(predicates))
    for warp, lane, number in waiting:
        stop = warp.stops[number]
        if stop[0] == 2:
            warp.give(stop, int(stop[1] > 0), lane, int(results[stop[1]]))
    for warp in warps:
        for number in sorted({s for w, _, s in waiting if w is warp}):
            resume(warp, number + 1,
                   [n for w, n, s in waiting if w is warp and s == number])
    return True


def _nothing(warp: Warp, stop: Sequence[int], lanes: list[int]) -> None:
    pass


def _shfl(warp: Warp, stop: Sequence[int], lanes: list[int]) -> None:
    """PTX ISA, shfl.sync: its pseudo-code."""
    values = {n: warp.operand(stop, 0, n) for n in lanes}
    for lane in lanes:
        b = warp.operand(stop, 1, lane) & 31
        c = warp.operand(stop, 2, lane)
        clamp, segment = c & 31, c >> 8 & 31
        low, high = lane & segment, (lane & segment) | (clamp & ~segment)
        source = (lane - b, lane + b, lane ^ b, low | (b & ~segment))[stop[1]]
        inside = source >= high if stop[1] == 0 else source <= high
        source = source if inside else lane
        warp.give(stop, 0, lane, values.get(source, 0))
        warp.give(stop, 1, lane, inside)


def _vote(warp: Warp, stop: Sequence[int], lanes: list[int]) -> None:
    ballot = {n: warp.operand(stop, 2, n, 'u1') for n in lanes}
    bits = sum(v << n for n, v in ballot.items())
    all_, any_ = all(ballot.values()), any(ballot.values())
    result = (all_, any_, all_ or not any_)
    for lane in lanes:
        if stop[1] == 3:
            warp.give(stop, 0, lane, bits)
        else:
            warp.give(stop, 1, lane, result[stop[1]])


def _match(warp: Warp, stop: Sequence[int], lanes: list[int]) -> None:
    dtype = 'u8' if stop[1] & 1 else 'u4'
    values = {n: warp.operand(stop, 0, n, dtype) for n in lanes}
    same = len(set(values.values())) == 1
    for lane in lanes:
        bits = sum(1 << n for n in lanes if values[n] == values[lane])
        if stop[1] >= 2:
            bits = bits if same else 0
        warp.give(stop, 0, lane, bits)
        warp.give(stop, 1, lane, same)


def _redux(warp: Warp, stop: Sequence[int], lanes: list[int]) -> None:
    values = numpy.array([warp.operand(stop, 0, n) for n in lanes], 'u4')
    signed = values.view('i4')
    result = (values.sum(dtype='u4'), values.min(), signed.min(),
              values.max(), signed.max(), numpy.bitwise_and.reduce(values),
              numpy.bitwise_or.reduce(values),
              numpy.bitwise_xor.reduce(values))[stop[1]]
    for lane in lanes:
        warp.give(stop, 0, lane, int(result) & 0xffffffff)


def _activemask(warp: Warp, stop: Sequence[int], lanes: list[int]) -> None:
    for lane in lanes:
        warp.give(stop, 0, lane, sum(1 << n for n in lanes))


def _elect(warp: Warp, stop: Sequence[int], lanes: list[int]) -> None:
    for lane in lanes:
        warp.give(stop, 0, lane, lanes[0])
        warp.give(stop, 1, lane, lane == lanes[0])


OPERATIONS = {3: _nothing, 4: _shfl, 5: _vote, 6: _match, 7: _redux,
              8: _activemask, 9: _elect, 10: _nothing}
