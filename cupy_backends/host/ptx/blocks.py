"""Writes the blocks of a control flow graph into an LLVM function."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import remat
from cupy_backends.host.ptx import special
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer

# Ends a block in the way the surrounding function wants it: emits what
# comes before and returns the LLVM terminator.
Ending = Callable[[cfg.Term], str]
# Returns the value a register has at the start, or None if it has none.
Initial = Callable[[str], 'str | None']

_U32 = dtypes.TYPES['u32']


class BlockWriter:
    """Writes part of a graph.

    Args:
        w (Writer): The function; its current block is where threads start.
        graph (Graph): Control flow graph.
        labels (list of str): Blocks to write, in reverse post-order; the
            first is where threads start.
        fixed (dict): Registers to compute at the start (:mod:`remat`).
        prefix (str): Of the names of the LLVM blocks.
        ending: Handles terminators that leave these blocks: ``'ret'``,
            ``'exit'``, ``'trap'``, ``'fail'`` or ``'stop'``.
    """

    def __init__(self, w: writer.Writer, graph: cfg.Graph,
                 labels: list[str], fixed: dict[str, syntax.Inst],
                 ending: Ending, prefix: str = 'b') -> None:
        self.w = w
        self.graph = graph
        self.labels = labels
        self._fixed = fixed
        self._ending = ending
        self._names = {label: f'{prefix}{n}' for n, label in enumerate(labels)}
        self._parents = liveness.sole_predecessors(graph, labels)
        self._known: dict[str, dict[str, str]] = {}

    def start(self, initial: Initial,
              at_end: Mapping[str, Iterable[str]]) -> None:
        """Writes what precedes the first block.

        Args:
            initial: Values of registers at the start.
            at_end (dict): Registers to be read at the end of a block.
        """
        for inst in remat.needed(self._fixed, self._reads(at_end),
                                 self.w.body):
            self.w.emit(inst)
            self.w.fixed[inst.args[0]] = self.w.read(inst.args[0])
        crossing = liveness.crossing(
            self.graph, self.labels, self.w.body, self.w.fixed, at_end)
        for reg in sorted(crossing):
            slot = self.w.add_slot(reg)
            value = initial(reg)
            if value is not None:
                llvm = self.w.llvm_type(reg)
                self.w.stmt(f'store {llvm} {value}, ptr {slot}')
        self.w.stmt(f'br label %{self._names[self.labels[0]]}')

    def _reads(self, at_end: Mapping[str, Iterable[str]]) -> set[str]:
        found: set[str] = set()
        for label in self.labels:
            block = self.graph.blocks[label]
            for effect in block.effects:
                found.update(effect.uses)
            found.update(liveness.term_uses(block.term, self.w.body))
            found.update(at_end.get(label, ()))
        return found

    def write(self) -> None:
        """Writes all blocks."""
        for label in self.labels:
            known = self._known.get(self._parents.get(label, ''))
            self.w.open_block(self._names[label], known)
            block = self.graph.blocks[label]
            for inst, effect in zip(block.insts, block.effects):
                if not effect.defs or effect.defs[0] not in self.w.fixed:
                    self.w.emit(inst)
            self._end(label, block.term)

    def _end(self, label: str, term: cfg.Term) -> None:
        inside = term.kind in ('bra', 'if', 'brx', 'either')
        text = self._branch(term) if inside else self._ending(term)
        self._known[label] = self.w.close_block()
        self.w.stmt(text)

    def _branch(self, term: cfg.Term) -> str:
        names = [self._names[target] for target in term.targets]
        if term.kind == 'bra':
            return f'br label %{names[0]}'
        if term.kind == 'either':
            # What a lane has done before it came to its own code.
            return f'br i1 %forwarded, label %{names[0]}, label %{names[1]}'
        assert term.inst is not None
        if term.kind == 'brx':
            index = self.w.source(term.inst.args[0], _U32)
            cases = ' '.join(f'i32 {n}, label %{name}'
                             for n, name in enumerate(names))
            return f'switch i32 {index}, label %{names[0]} [ {cases} ]'
        guard = self.w.read(term.inst.pred)
        if term.inst.negated:
            names.reverse()
        return f'br i1 {guard}, label %{names[0]}, label %{names[1]}'


def write_trap(w: writer.Writer, term: cfg.Term) -> None:
    """Reports a trap at the instruction that ends a block."""
    assert term.inst is not None
    line = w.program.table.line(term.inst.pos)
    w.call('void', 'hd_rt_trap', [
        ('ptr', '%launch'), ('ptr', '%block'),
        ('i32', special.linear_thread(w)), ('i32', str(line))])
