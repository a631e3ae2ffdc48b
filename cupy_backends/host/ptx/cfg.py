"""The control flow graph of a function, with guards turned into branches.

Source: PTX ISA, sections "Predicated Execution" and "Control Flow
Instructions".
"""
from __future__ import annotations

from typing import NamedTuple

from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import instinfo
from cupy_backends.host.ptx import stops
from cupy_backends.host.ptx import syntax


class Term(NamedTuple):
    """How a block ends.

    Attributes:
        kind (str): ``'bra'``; ``'if'`` (guard of ``inst``; targets are
            where it goes when true and when not); ``'brx'``; ``'ret'``;
            ``'exit'``; ``'trap'``; ``'fail'`` (after a failed assertion);
            ``'stop'`` (the target is where the thread resumes); or
            ``'either'`` (the start of a loop of :mod:`laneloops`; targets
            are where to go after it was run for all lanes and otherwise).
        targets (tuple of str): Labels.
        inst (Inst): The instruction it comes from, if any.
    """

    kind: str
    targets: tuple[str, ...] = ()
    inst: syntax.Inst | None = None


class Block:
    """A basic block.

    Attributes:
        label (str): Name.
        insts (list of Inst): Instructions before the end.
        effects (list of Effects): What each of them reads and writes.
        term (Term): How it ends.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.insts: list[syntax.Inst] = []
        self.effects: list[instinfo.Effects] = []
        self.term = Term('ret')


class Graph:
    """Blocks by label, in program order; the first is the entry."""

    def __init__(self) -> None:
        self.blocks: dict[str, Block] = {}
        self.entry = 'entry'

    def successors(self, label: str) -> tuple[str, ...]:
        return self.blocks[label].term.targets

    def instructions(self) -> list[syntax.Inst]:
        """Returns the instructions of all blocks."""
        return [i for block in self.blocks.values() for i in block.insts]

    def order(self, start: str, across_stops: bool = True) -> list[str]:
        """Returns the blocks reachable from ``start``, in reverse post-order.

        Args:
            start (str): Label of the first block.
            across_stops (bool): Whether to follow a stop to where it
                resumes.
        """
        seen = {start}
        done: list[str] = []
        stack = [(start, iter(self._next(start, across_stops)))]
        while stack:
            label, successors = stack[-1]
            for target in successors:
                if target not in seen:
                    seen.add(target)
                    stack.append(
                        (target, iter(self._next(target, across_stops))))
                    break
            else:
                done.append(label)
                stack.pop()
        return done[::-1]

    def _next(self, label: str, across_stops: bool) -> tuple[str, ...]:
        term = self.blocks[label].term
        if term.kind == 'stop' and not across_stops:
            return ()
        # The last is followed first, so that it comes last in the order.
        return term.targets[::-1]


def build(body: syntax.Body, text: str) -> Graph:
    """Builds the graph of a function.

    Args:
        body (Body): Its items; calls of functions with stops inlined.
        text (str): Text of the module, for line numbers.

    Raises:
        PTXSyntaxError: A branch goes to a label that is not there.
    """
    graph = _Builder(body).build()
    for block in list(graph.blocks.values()):
        for target in block.term.targets:
            if target not in graph.blocks:
                pos = block.term.inst.pos if block.term.inst else 0
                raise errors.PTXSyntaxError(
                    f'branch to the unknown label {target}',
                    syntax.line_of(text, pos))
    reachable = graph.order(graph.entry)
    graph.blocks = {label: graph.blocks[label] for label in reachable}
    return graph


class _Builder:
    def __init__(self, body: syntax.Body) -> None:
        self.body = body
        self.graph = Graph()
        self._serial = 0
        self._open: Block | None = self._start(self.graph.entry)

    def _start(self, label: str) -> Block:
        block = self.graph.blocks[label] = Block(label)
        self._open = block
        return block

    def _fresh(self, hint: str) -> str:
        self._serial += 1
        return f'{hint}.{self._serial}'

    def _close(self, term: Term) -> None:
        if self._open is not None:
            self._open.term = term
        self._open = None

    def build(self) -> Graph:
        for item in self.body.items:
            if isinstance(item, syntax.Label):
                self._close(Term('bra', (item.name,)))
                self._start(item.name)
            else:
                self._inst(item)
        self._close(Term('ret'))
        return self.graph

    def _inst(self, inst: syntax.Inst) -> None:
        if self._open is None:
            self._start(self._fresh('dead'))
        mnemonic = inst.opcode.split('.', 1)[0]
        if mnemonic == 'bra':
            self._branch(inst)
        elif inst.pred and not instinfo.is_pure(inst):
            self._guard(inst)
        elif mnemonic in ('ret', 'exit', 'trap', 'brkpt'):
            kind = 'trap' if mnemonic == 'brkpt' else mnemonic
            self._close(Term(kind, (), inst))
        elif mnemonic == 'brx':
            self._close(Term('brx', self._table(inst), inst))
        elif stops.is_stop(inst.opcode):
            resume = self._fresh('resume')
            self._close(Term('stop', (resume,), inst))
            self._start(resume)
        else:
            self._append(inst)

    def _append(self, inst: syntax.Inst) -> None:
        assert self._open is not None
        self._open.insts.append(inst)
        self._open.effects.append(instinfo.effects(inst, self.body))
        if inst.opcode.startswith('call') and '__assertfail' in inst.args:
            # The threads of a failed assertion must not run on.
            self._close(Term('fail', (), inst))

    def _branch(self, inst: syntax.Inst) -> None:
        if not inst.pred:
            self._close(Term('bra', inst.args, inst))
            return
        after = self._fresh('after')
        self._close(Term('if', (inst.args[0], after), inst))
        self._start(after)

    def _guard(self, inst: syntax.Inst) -> None:
        """Puts a guarded instruction into a block of its own."""
        then, after = self._fresh('then'), self._fresh('after')
        self._close(Term('if', (then, after), inst))
        self._start(then)
        self._inst(inst._replace(pred='', negated=False))
        self._close(Term('bra', (after,)))
        self._start(after)

    def _table(self, inst: syntax.Inst) -> tuple[str, ...]:
        return self.body.targets.get(inst.args[1], (inst.args[1],))
