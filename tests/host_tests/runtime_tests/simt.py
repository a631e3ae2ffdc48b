"""Kernels written as Python generators, one per thread of the grid.

A thread yields ``Wait(stop, ...)`` to stop for others and is resumed with
the operation's results.  Everything but the waiting happens in Python, so a
test says what each thread does and the scheduler under test does the rest.
"""
from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
import ctypes
from typing import Any, NamedTuple

import hostlib
import numpy

BARRIER, BARRIER_RED, WARP_SYNC, SHFL, VOTE = 1, 2, 3, 4, 5
MATCH, REDUX, ACTIVEMASK, ELECT, YIELD = 6, 7, 8, 9, 10
IMM_A, IMM_B, IMM_C, IMM_MASK = 1, 2, 4, 8
FULL = 0xffffffff

# Places of the operands in every frame, and where words lie.
_A, _B, _C, _MASK, _DST = 128, 384, 512, 640, 768
_C_PRED, _DST2, _FRAME = 896, 928, 1024
_EXITED = 0xffffffff


class Wait(NamedTuple):
    """A thread's operands at a stop.

    Attributes:
        stop (int): Index of the stop.
        a, b, c, mask (int): Operands, where the stop takes them from slots.
    """

    stop: int
    a: int = 0
    b: int = 0
    c: int = 0
    mask: int = FULL


class Result(NamedTuple):
    dst: int
    dst2: bool


class Thread(NamedTuple):
    """Where a thread is: ``ctaid`` and its linear index in the block."""

    ctaid: int
    index: int


Program = Callable[[Thread], Generator[Wait, Result, None]]


def stop(kind: int, op: int = 0, *, a: int | None = None,
         b: int | None = None, c: int | None = None,
         mask: int | None = None, line: int = 0) -> hostlib.Stop:
    """Returns a stop; operands given here are immediate, others in slots.

    ``b`` of a barrier is its thread count: -1 for none.
    """
    predicate = kind in (BARRIER_RED, VOTE)
    places = [_A, _B, _C_PRED if predicate else _C, _MASK]
    imm = 0
    for bit, value in enumerate((a, b, c, mask)):
        if value is None:
            continue
        places[bit] = ctypes.c_int32(value).value
        if value != -1 or (kind, bit) not in ((BARRIER, 1), (BARRIER_RED, 1)):
            imm |= 1 << bit
    return hostlib.Stop(kind, op, _DST, _DST2, *places, imm, line)


class Kernel:
    """A phase kernel whose threads are generators.

    Args:
        program (callable): Makes a thread's generator.
        stops (sequence of Stop): The stops that threads may yield.

    Attributes:
        order (list of tuple): ``(ctaid, index)`` of threads as they ran.
        errors (list): Exceptions of the generators.
    """

    def __init__(self, program: Program,
                 stops: Sequence[hostlib.Stop]) -> None:
        self.program = program
        self.stops = (hostlib.Stop * max(1, len(stops)))(*stops)
        self.order: list[tuple[int, int]] = []
        self.errors: list[BaseException] = []
        self._running: dict[Thread, Generator[Wait, Result, None]] = {}
        self._phases = [hostlib.PHASE(self._phase(number))
                        for number in range(len(stops) + 1)]
        self._addresses = (ctypes.c_void_p * len(self._phases))(
            *(ctypes.cast(f, ctypes.c_void_p).value for f in self._phases))
        self.struct = hostlib.Kernel(
            abi_version=1, n_phases=len(self._phases),
            phases=self._addresses, stops=self.stops, n_stops=len(stops),
            frame_bytes=_FRAME, max_threads_per_block=1024,
            name=b'generators')

    def run(self, lib: Any, block: int | Sequence[int],
            grid: int = 1) -> int:
        """Runs the grid; returns the status of the next synchronisation."""
        sizes = (block,) if isinstance(block, int) else tuple(block)
        status: int = lib.hd_run_kernel(
            ctypes.byref(self.struct), hostlib.dim3(grid),
            hostlib.dim3(*sizes), 0, None, None)
        if self.errors:
            raise self.errors[0]
        return status

    def _phase(self, number: int) -> Callable[..., None]:
        def phase(launch: Any, block: Any, frame: int, warp: int,
                  mask: int) -> None:
            try:
                self._resume(number, block, _view(frame), warp, mask)
            except BaseException as error:
                self.errors.append(error)
                block[0].fault = 1
        return phase

    def _resume(self, phase: int, block: Any, frame: Any, warp: int,
                mask: int) -> None:
        words = frame[:128].view('u4')
        for lane in range(32):
            if not mask >> lane & 1:
                continue
            thread = Thread(block[0].ctaid[0], 32 * warp + lane)
            self.order.append(thread)
            if phase:
                assert words[lane] == phase - 1, 'resumed at another stop'
            words[lane] = self._step(phase, thread, frame, lane)

    def _step(self, phase: int, thread: Thread, frame: Any,
              lane: int) -> int:
        try:
            if phase == 0:
                self._running[thread] = self.program(thread)
                wait = next(self._running[thread])
            else:
                result = Result(int(frame[_DST:].view('u4')[lane]),
                                bool(frame[_DST2 + lane]))
                wait = self._running[thread].send(result)
        except StopIteration:
            del self._running[thread]
            return _EXITED
        self._store(wait, frame, lane)
        return wait.stop

    def _store(self, wait: Wait, frame: Any, lane: int) -> None:
        kind, op = self.stops[wait.stop].kind, self.stops[wait.stop].op
        wide = kind == MATCH and op % 2
        frame[_A:].view('u8' if wide else 'u4')[lane] = wait.a
        frame[_B:].view('u4')[lane] = wait.b
        frame[_C:].view('u4')[lane] = wait.c
        frame[_MASK:].view('u4')[lane] = wait.mask
        frame[_C_PRED + lane] = wait.c & 1


def _view(address: int) -> Any:
    memory = (ctypes.c_uint8 * _FRAME).from_address(address)
    return numpy.frombuffer(memory, 'u1')
