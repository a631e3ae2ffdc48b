"""Instructions at which a thread waits for others.

A kernel is cut at these; the scheduler carries them out for a whole warp
or block.  Numbers are those of ``csrc/kernel_abi.h``.

Source: PTX ISA, sections "Parallel Synchronization and Communication
Instructions" and "Data Movement: shfl".
"""
from __future__ import annotations

from collections.abc import Callable
import functools
import re
from typing import NamedTuple

from cupy_backends.host.ptx import syntax

BARRIER = 1
BARRIER_RED = 2
WARP_SYNC = 3
SHFL = 4
VOTE = 5
MATCH = 6
REDUX = 7
ACTIVEMASK = 8
ELECT = 9
YIELD = 10

_ALL_LANES = '0xffffffff'


class Spec(NamedTuple):
    """A stop with its operands as written.

    Attributes:
        kind, op (int): Of ``kernel_abi.h``.
        dst, dst2 (str): Destination registers, or the empty string.
        a, b, c, mask (str): Source operands, or the empty string.
        a_type, c_type (str): PTX types of ``a`` and ``c``; the others are
            always 32 bits wide.
    """

    kind: int
    op: int = 0
    dst: str = ''
    dst2: str = ''
    a: str = ''
    b: str = ''
    c: str = ''
    mask: str = ''
    a_type: str = 'b32'
    c_type: str = 'b32'


Reader = Callable[[syntax.Inst, 're.Match[str]'], Spec]

_PATTERNS: list[tuple[re.Pattern[str], Reader, bool, str]] = []


def _stop(pattern: str, summary: str, *,
          has_dest: bool) -> Callable[[Reader], Reader]:
    def register(reader: Reader) -> Reader:
        _PATTERNS.append((re.compile(pattern), reader, has_dest, summary))
        return reader
    return register


_MNEMONICS = frozenset((
    'bar', 'barrier', 'shfl', 'vote', 'match', 'redux', 'activemask',
    'elect', 'nanosleep'))


@functools.cache
def _find(opcode: str) -> tuple[Reader, re.Match[str], bool] | None:
    if opcode.split('.', 1)[0] not in _MNEMONICS:
        return None
    for pattern, reader, has_dest_, _ in _PATTERNS:
        match = pattern.fullmatch(opcode)
        if match is not None:
            return reader, match, has_dest_
    return None


def is_stop(opcode: str) -> bool:
    """Returns whether a thread waits at an instruction."""
    return _find(opcode) is not None


def has_dest(opcode: str) -> bool:
    """Returns whether the first operand of a stop is a destination."""
    found = _find(opcode)
    return found is not None and found[2]


def spec(inst: syntax.Inst) -> Spec:
    """Returns what the scheduler must do at a stop."""
    found = _find(inst.opcode)
    assert found is not None
    return found[0](inst, found[1])


def summaries() -> list[str]:
    """Returns one line per supported form, for the coverage page."""
    return [summary for _, _, _, summary in _PATTERNS]


def _pair(arg: str) -> tuple[str, str]:
    """Splits ``d|p``; a sink ``_`` counts as absent."""
    first, _, second = arg.partition('|')
    return first.strip('_') and first, second.strip('_') and second


def _barrier_operands(args: tuple[str, ...]) -> tuple[str, str]:
    return args[0] if args else '0', args[1] if len(args) > 1 else ''


@_stop(r'(?:bar|barrier)(?:\.cta)?\.(sync|arrive)(?:\.aligned)?',
       'bar{.cta}.sync/arrive, barrier{.cta}.sync/arrive{.aligned}',
       has_dest=False)
def _bar(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    a, b = _barrier_operands(inst.args)
    return Spec(BARRIER, ('sync', 'arrive').index(match[1]), a=a, b=b)


@_stop(r'(?:bar|barrier)(?:\.cta)?\.red\.(popc|and|or)(?:\.aligned)?'
       r'\.(u32|pred)', 'bar/barrier.red.popc.u32, .and.pred, .or.pred',
       has_dest=True)
def _bar_red(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    a, b = _barrier_operands(inst.args[1:-1])
    op = ('popc', 'and', 'or').index(match[1])
    dst = inst.args[0]
    return Spec(BARRIER_RED, op, dst='' if op else dst,
                dst2=dst if op else '', a=a, b=b, c=inst.args[-1],
                c_type='pred')


@_stop(r'bar\.warp\.sync', 'bar.warp.sync', has_dest=False)
def _bar_warp(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    return Spec(WARP_SYNC, mask=inst.args[0])


@_stop(r'shfl\.sync\.(up|down|bfly|idx)\.b32',
       'shfl.sync.up/down/bfly/idx.b32', has_dest=True)
def _shfl(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    dst, dst2 = _pair(inst.args[0])
    a, b, c, mask = inst.args[1:]
    op = ('up', 'down', 'bfly', 'idx').index(match[1])
    return Spec(SHFL, op, dst, dst2, a, b, c, mask)


@_stop(r'vote\.sync\.(?:(all|any|uni)\.pred|(ballot)\.b32)',
       'vote.sync.all/any/uni.pred, vote.sync.ballot.b32', has_dest=True)
def _vote(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    dst, source, mask = inst.args
    if match[2]:
        return Spec(VOTE, 3, dst=dst, c=source, mask=mask, c_type='pred')
    op = ('all', 'any', 'uni').index(match[1])
    return Spec(VOTE, op, dst2=dst, c=source, mask=mask, c_type='pred')


@_stop(r'match\.(any|all)\.sync\.(b32|b64)', 'match.any/all.sync.b32/b64',
       has_dest=True)
def _match(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    dst, dst2 = _pair(inst.args[0])
    op = 2 * (match[1] == 'all') + (match[2] == 'b64')
    return Spec(MATCH, op, dst, dst2, a=inst.args[1], mask=inst.args[2],
                a_type=match[2])


_REDUX = {'add.u32': 0, 'add.s32': 0, 'min.u32': 1, 'min.s32': 2,
          'max.u32': 3, 'max.s32': 4, 'and.b32': 5, 'or.b32': 6,
          'xor.b32': 7}


@_stop(r'redux\.sync\.((?:add|min|max)\.[us]32|(?:and|or|xor)\.b32)',
       'redux.sync.add/min/max.u32/s32, redux.sync.and/or/xor.b32',
       has_dest=True)
def _redux(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    return Spec(REDUX, _REDUX[match[1]], dst=inst.args[0], a=inst.args[1],
                mask=inst.args[2])


@_stop(r'activemask\.b32', 'activemask.b32', has_dest=True)
def _activemask(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    return Spec(ACTIVEMASK, dst=inst.args[0])


@_stop(r'elect\.sync', 'elect.sync', has_dest=True)
def _elect(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    dst, dst2 = _pair(inst.args[0])
    return Spec(ELECT, dst=dst, dst2=dst2, mask=inst.args[1])


@_stop(r'nanosleep\.u32', 'nanosleep.u32', has_dest=False)
def _nanosleep(inst: syntax.Inst, match: re.Match[str]) -> Spec:
    return Spec(YIELD)
