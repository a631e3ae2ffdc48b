"""Runs a kernel given as PTX text: a small stand-in for the C++ runtime.

Straight kernels are called directly.  Phase kernels go through a scheduler
that keeps to ``csrc/kernel_abi.h`` and favours clarity over speed.
"""
from __future__ import annotations

from collections.abc import Sequence
import ctypes
from typing import Any

import llvmlite.binding as llvm
import numpy

from cupy_backends.host.ptx import compile as compile_
from cupy_backends.host.runtime import jit
import warps

HEADER = '.version 8.0\n.target sm_80\n.address_size 64\n'


class Launch(ctypes.Structure):
    _fields_ = [('grid', ctypes.c_uint32 * 3),
                ('block', ctypes.c_uint32 * 3),
                ('dynamic_shared', ctypes.c_uint32),
                ('reserved', ctypes.c_uint32),
                ('globals', ctypes.c_void_p),
                ('params', ctypes.c_void_p)]


class Block(ctypes.Structure):
    _fields_ = [('shared', ctypes.c_void_p),
                ('ctaid', ctypes.c_uint32 * 3),
                ('worker', ctypes.c_uint32),
                ('fault', ctypes.c_uint64)]


STRAIGHT = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(Launch), ctypes.POINTER(Block), ctypes.c_uint64,
    ctypes.c_uint64)
PHASE = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(Launch), ctypes.POINTER(Block), ctypes.c_void_p,
    ctypes.c_uint32, ctypes.c_uint32)

faults: list[tuple[str, int, int]] = []


def _report(name: str, code: int, line_index: int, *types: Any) -> None:
    """Provides a runtime function that sets the block's fault."""
    def function(launch: Any, block: Any, thread: int, *args: Any) -> None:
        block[0].fault = code
        faults.append((name, thread, args[line_index]))
    prototype = ctypes.CFUNCTYPE(
        None, ctypes.POINTER(Launch), ctypes.POINTER(Block),
        ctypes.c_uint32, *types)
    _keep.append(prototype(function))
    llvm.add_symbol(name, ctypes.cast(_keep[-1], ctypes.c_void_p).value)


_keep: list[Any] = []
_report('hd_rt_trap', 1, 0, ctypes.c_uint32)
_report('hd_rt_assertfail', 2, 2, ctypes.c_char_p, ctypes.c_char_p,
        ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64)


def size3(size: int | Sequence[int]) -> tuple[int, int, int]:
    sizes = (size,) if isinstance(size, int) else tuple(size)
    return (*sizes, 1, 1, 1)[:3]


class Kernel:
    """A kernel ready to run.

    Args:
        text (str): PTX text; without ``.version``, a header is put before.
        name (str): The kernel's name; by default the module's only one.
    """

    def __init__(self, text: str, name: str = '') -> None:
        if '.version' not in text:
            text = HEADER + text
        self.module = compile_.Module(text)
        self.kernel = self.module.translate(name or self.module.kernels[0])
        self.code = jit.Code(self.kernel.name, jit.object_code(self.kernel),
                             self.kernel.functions)
        self.arena = self._arena()

    def _arena(self) -> numpy.ndarray[Any, Any]:
        arena = numpy.zeros(self.module.arena_size + 64, 'u1')
        init = self.module.arena_init
        arena[:len(init)] = numpy.frombuffer(init, 'u1')
        for offset, target in self.module.relocations:
            arena[offset:offset + 8] = numpy.array(
                [arena.ctypes.data + target], 'u8').view('u1')
        return arena

    def __call__(self, grid: int | Sequence[int],
                 block: int | Sequence[int], *args: Any,
                 shared: int = 0) -> int:
        """Runs the kernel, and returns the block fault that ended it.

        Args:
            grid, block: Sizes.
            args: Arrays (passed by address) and NumPy scalars.
            shared (int): Bytes of dynamic shared memory.
        """
        params = self._params(args)
        memory = numpy.zeros(self.kernel.static_shared + shared + 128, 'u1')
        launch = Launch(size3(grid), size3(block), shared, 0,
                        self.arena.ctypes.data, params.ctypes.data)
        state = Block(_align(memory.ctypes.data, 128), (0, 0, 0), 0, 0)
        blocks = int(numpy.prod(size3(grid)))
        if self.kernel.stops:
            for index in range(blocks):
                self._run_phases(launch, state, index)
        else:
            STRAIGHT(self.code.addresses[0])(launch, state, 0, blocks)
        return int(state.fault)

    def _params(self, args: Sequence[Any]) -> numpy.ndarray[Any, Any]:
        block = numpy.zeros(max(64, self.kernel.param_bytes), 'u1')
        assert len(args) == len(self.kernel.params)
        for arg, (offset, size) in zip(args, self.kernel.params):
            if isinstance(arg, numpy.ndarray):
                arg = numpy.uint64(arg.ctypes.data)
            raw = numpy.frombuffer(
                arg if isinstance(arg, bytes) else arg.tobytes(), 'u1')
            assert len(raw) == size
            block[offset:offset + size] = raw
        return block

    def _run_phases(self, launch: Launch, block: Block, index: int) -> None:
        gx, gy, _ = launch.grid
        block.ctaid[:] = (index % gx, index // gx % gy, index // gx // gy)
        phases = [PHASE(address) for address in self.code.addresses]

        def run(phase: int, frame: int, warp: int, mask: int) -> None:
            phases[phase](launch, block, frame, warp, mask)
        warps.run_block(run, int(numpy.prod(launch.block[:])),
                        self.kernel.stops, self.kernel.frame_bytes)


def _align(address: int, to: int) -> int:
    return -(-address // to) * to


def entry(body: str, params: str = '.u64 p0', before: str = '') -> str:
    """Returns the PTX text of a kernel ``k`` around a few instructions.

    Registers ``%p``, ``%h`` (16 bits), ``%r``, ``%rd``, ``%f`` and ``%fd``
    are declared; ``%r0`` is ``%tid.x`` and ``%rd0`` the first parameter
    plus 8 times that, if the kernel has parameters.

    Args:
        body (str): Instructions.
        params (str): Parameters, separated by commas.
        before (str): Module-scope declarations.
    """
    start = 'mov.u32 %r0, %tid.x;'
    if params:
        start += ('ld.param.u64 %rd0, [p0];\n'
                  'mad.wide.u32 %rd0, %r0, 8, %rd0;')
        params = ', '.join(f'.param {p}' for p in params.split(','))
    return f'''{HEADER}{before}
.visible .entry k({params})
{{
.reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .b64 %rd<40>;
.reg .f32 %f<20>; .reg .f64 %fd<20>;
{start}
{body}
}}
'''


def threads(body: str, count: int = 64, *args: Any, dtype: str = 'u8',
            before: str = '', params: str = '', shared: int = 0) -> Any:
    """Runs ``body`` in one block and returns what each thread stored.

    Thread i owns the 8 bytes at ``%rd0``; see :func:`entry`.

    Args:
        body (str): Instructions.
        count (int): Threads of the block.
        args: Further arguments, declared by ``params``.
        dtype: Of the array returned, of ``count`` elements of 8 bytes.
    """
    out = numpy.zeros(count, 'u8')
    params = ', '.join(filter(None, ['.u64 p0', params]))
    kernel = Kernel(entry(body, params, before))
    assert kernel(1, count, out, *args, shared=shared) == 0
    return out.view(dtype)
