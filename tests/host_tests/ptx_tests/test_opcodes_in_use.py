"""Every opcode that real kernels use is translated to valid LLVM IR."""
from __future__ import annotations

import pathlib

import llvmlite.binding as llvm
import pytest

from cupy_backends.host.ptx import compile as compile_
import runner

LINES = (pathlib.Path(__file__).parent /
         'other_opcodes_in_use.txt').read_text().splitlines()
OPCODES = [line for line in LINES if line and line[0] != '#']

PLACES = {'shared': 's', 'local': 'l', 'const': 'c', 'param': 'p1'}
REGISTERS = {'8': '%h', '16': '%h', '32': '%r', '64': '%rd'}
# Operands of what does not access memory.
OPERANDS = {
    'activemask': '%r1', 'bar.arrive': '1, 64', 'bar.sync': '0',
    'bar.red.or': '%p1, 0, %p2', 'bar.red.popc': '%r1, 0, %p2',
    'barrier.sync': '0', 'bar.warp.sync': '-1', 'bra': 'END', 'call': 'f',
    'cvta': '%rd1, %rd2', 'match': '%r1, %r2, -1', 'membar': '',
    'nanosleep': '10', 'redux': '%r1, %r2, -1', 'ret': '', 'trap': '',
    'shfl': '%r1|%p1, %r2, 1, 31, -1', 'vote.sync.ballot': '%r1, %p1, -1',
    'vote.sync.a': '%p1, %p2, -1'}


def operands(opcode: str) -> str:
    words = opcode.split('.')
    if words[0] not in ('ld', 'st', 'atom'):
        return next(text for start, text in OPERANDS.items()
                    if opcode.startswith(start))
    name = next((PLACES[w] for w in words if w in PLACES), '%rd0')
    kind = words[-1]
    reg = ('%f' + 'd' * (kind == 'f64') if kind in ('f32', 'f64')
           else REGISTERS[kind[1:]])
    count = int(next((w[1] for w in words if w in ('v2', 'v4')), '1'))
    value = ', '.join(f'{reg}{n + 1}' for n in range(count))
    value = f'{{{value}}}' if count > 1 else value
    if words[0] == 'st':
        return f'[{name}], {value}'
    if words[0] == 'ld':
        return f'{value}, [{name}]'
    return f'{value}, [{name}], {value}' + f', {value}' * ('cas' in words)


@pytest.mark.parametrize('opcode', OPCODES)
def test_opcode(opcode: str) -> None:
    instruction = f'{opcode} {operands(opcode)};'
    if opcode.startswith('st.param'):
        instruction = instruction.replace('[p1]', '[argument]')
    text = runner.entry(
        '.local .b8 l[16]; .shared .b8 s[16]; .param .b8 argument[16];'
        f'{instruction} END: ret;', '.u64 p0, .b8 p1[16]',
        '.const .b8 c[16]; .func f() { ret; }')
    kernel = compile_.Module(text).translate('k')
    llvm.parse_assembly(kernel.ir).verify()
