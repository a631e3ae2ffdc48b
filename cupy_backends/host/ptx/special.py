"""Special registers.

Source: PTX ISA, section "Special Registers".
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cupy_backends.host.ptx import program

if TYPE_CHECKING:
    from cupy_backends.host.ptx import writer

Reader = Callable[['writer.Writer'], str]

# LLVM type and reader of each register.
REGISTERS: dict[str, tuple[str, Reader]] = {}

_AXES = 'xyz'


def read(w: writer.Writer, name: str) -> tuple[str, str]:
    """Returns the LLVM type and the value of a special register."""
    llvm, reader = REGISTERS[name]
    return llvm, reader(w)


def _register(name: str, llvm: str = 'i32') -> Callable[[Reader], Reader]:
    def register(reader: Reader) -> Reader:
        REGISTERS[f'%{name}'] = (llvm, reader)
        return reader
    return register


def _env(name: str, source: str = '') -> None:
    _register(name)(lambda w: w.env[source or name])


def _launch(name: str, offset: int) -> None:
    _register(name)(lambda w: w.launch_field(offset, 'i32'))


for _number, _axis in enumerate(_AXES):
    _env(f'tid.{_axis}')
    _env(f'ctaid.{_axis}')
    _launch(f'nctaid.{_axis}', program.LAUNCH_GRID + 4 * _number)
    _launch(f'ntid.{_axis}', program.LAUNCH_BLOCK + 4 * _number)
    # Without clusters, each block is a cluster of its own.
    _register(f'cluster_ctaid.{_axis}')(lambda w: '0')
    _register(f'cluster_nctaid.{_axis}')(lambda w: '1')
    _env(f'clusterid.{_axis}', f'ctaid.{_axis}')
    _launch(f'nclusterid.{_axis}', program.LAUNCH_GRID + 4 * _number)


def linear_thread(w: writer.Writer) -> str:
    """Returns the linear index of the thread in its block, an ``i32``."""
    if 'linear' in w.env:
        return w.env['linear']
    sizes = [w.launch_field(program.LAUNCH_BLOCK + 4 * n, 'i32')
             for n in range(2)]
    row = w.inst(f'mul i32 {w.env["tid.z"]}, {sizes[1]}')
    row = w.inst(f'add i32 {row}, {w.env["tid.y"]}')
    row = w.inst(f'mul i32 {row}, {sizes[0]}')
    return w.inst(f'add i32 {row}, {w.env["tid.x"]}')


@_register('laneid')
def _laneid(w: writer.Writer) -> str:
    if 'lane' in w.env:
        return w.env['lane']
    return w.inst(f'and i32 {linear_thread(w)}, 31')


@_register('warpid')
def _warpid(w: writer.Writer) -> str:
    return w.inst(f'lshr i32 {linear_thread(w)}, 5')


@_register('nwarpid')
def _nwarpid(w: writer.Writer) -> str:
    return '32'


@_register('smid')
def _smid(w: writer.Writer) -> str:
    pointer = w.gep('%block', str(program.BLOCK_WORKER))
    return w.inst(f'load i32, ptr {pointer}, align 4')


@_register('nsmid')
def _nsmid(w: writer.Writer) -> str:
    # An upper bound is all that the PTX ISA asks for.
    return '1024'


@_register('gridid', 'i64')
def _gridid(w: writer.Writer) -> str:
    return '1'


def _lane_mask(name: str, op: str) -> None:
    def reader(w: writer.Writer) -> str:
        bit = w.inst(f'shl i32 1, {_laneid(w)}')
        below = w.inst(f'sub i32 {bit}, 1')
        if op == 'eq':
            return bit
        if op == 'lt':
            return below
        to_here = w.inst(f'or i32 {bit}, {below}')
        if op == 'le':
            return to_here
        return w.inst(f'xor i32 {to_here if op == "gt" else below}, -1')
    _register(name)(reader)


for _op in ('eq', 'lt', 'le', 'gt', 'ge'):
    _lane_mask(f'lanemask_{_op}', _op)


@_register('clock64', 'i64')
def _clock64(w: writer.Writer) -> str:
    return w.call('i64', 'hd_rt_clock64')


@_register('clock')
def _clock(w: writer.Writer) -> str:
    return w.inst(f'trunc i64 {_clock64(w)} to i32')


@_register('clock_hi')
def _clock_hi(w: writer.Writer) -> str:
    high = w.inst(f'lshr i64 {_clock64(w)}, 32')
    return w.inst(f'trunc i64 {high} to i32')


@_register('globaltimer', 'i64')
def _globaltimer(w: writer.Writer) -> str:
    return w.call('i64', 'hd_rt_globaltimer')


@_register('globaltimer_lo')
def _globaltimer_lo(w: writer.Writer) -> str:
    return w.inst(f'trunc i64 {_globaltimer(w)} to i32')


@_register('globaltimer_hi')
def _globaltimer_hi(w: writer.Writer) -> str:
    high = w.inst(f'lshr i64 {_globaltimer(w)}, 32')
    return w.inst(f'trunc i64 {high} to i32')


@_register('dynamic_smem_size')
def _dynamic_smem_size(w: writer.Writer) -> str:
    return w.launch_field(program.LAUNCH_DYNAMIC_SHARED, 'i32')


@_register('total_smem_size')
def _total_smem_size(w: writer.Writer) -> str:
    return w.inst(f'add i32 {_dynamic_smem_size(w)}, '
                  f'{w.program.shared.size}')


# The PTX ISA leaves the contents of these to the driver; no driver sets
# them for the programs that run here.
for _number in range(32):
    _register(f'envreg{_number}')(lambda w: '0')
