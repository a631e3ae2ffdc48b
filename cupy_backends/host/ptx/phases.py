"""Writes a kernel in which threads wait for each other.

The kernel is cut at its stops (:mod:`stops`).  Each place where threads
start or resume becomes a function, a phase, which runs the lanes of a mask
one after the other until each of them stops or returns.  What a thread
needs after a stop is kept in the frame of its warp meanwhile.
"""
from __future__ import annotations

from typing import NamedTuple

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import cut as cut_
from cupy_backends.host.ptx import laneloops
from cupy_backends.host.ptx import phase
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import syntax


class Result(NamedTuple):
    """What the scheduler must know; see :class:`~.compile.Kernel`."""

    functions: tuple[str, ...]
    stops: tuple[tuple[int, ...], ...]
    frame_bytes: int
    vectorise: bool


def write(shared: program.Program, body: syntax.Body, graph: cfg.Graph,
          loops: dict[str, laneloops.LaneLoop]) -> tuple[list[str], Result]:
    """Writes all phases of a kernel.

    Args:
        shared (Program): State of the translation.
        body (Body): The kernel's body.
        graph (Graph): Its control flow graph.
        loops (dict): Loops to run for all lanes, by the stop before.

    Returns:
        tuple: Texts of the LLVM functions, and a :class:`Result`.
    """
    stop_labels = [label for label, block in graph.blocks.items()
                   if block.term.kind == 'stop']
    cut = cut_.Cut(shared, body, graph, stop_labels, loops)
    starts = [graph.entry]
    starts += [graph.blocks[label].term.targets[0] for label in stop_labels]
    names = tuple(f'hd_phase_{n}' for n in range(len(starts)))
    before: list[laneloops.LaneLoop | None] = [None]
    before += [loops.get(label) for label in stop_labels]
    texts = [phase.write(cut, name, start, loop)
             for name, start, loop in zip(names, starts, before)]
    shared.declares['llvm.cttz.i32'] = 'declare i32 @llvm.cttz.i32(i32, i1)'
    table = tuple(cut.describe(label) for label in stop_labels)
    return texts, Result(names, table, cut.frame.size, bool(loops))
