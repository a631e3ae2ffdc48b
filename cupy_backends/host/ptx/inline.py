"""Puts the bodies of some device functions in place of their calls.

A function in which a thread may stop, exit or fail cannot be a function for
LLVM, because a phase has to be left in the middle of it.  A short one
without loops is inlined as well, so that loops around it can be vectorised.

Source: PTX ISA, section "Control Flow Instructions: call".
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
import re

from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import parser
from cupy_backends.host.ptx import promote
from cupy_backends.host.ptx import stops
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx.ops import call as call_

_WORD = re.compile(r'[%$\w~]+')
_LEAVES = ('exit', 'trap', 'brkpt')
_MOST_INSTRUCTIONS = 250

Bodies = Mapping[str, syntax.Body]


def reachable(table: parser.SymbolTable, kernel: syntax.Function,
              body_of: Callable[[syntax.Function], syntax.Body],
              ) -> dict[str, syntax.Body]:
    """Returns the bodies of a kernel and all functions it may call."""
    found: dict[str, syntax.Body] = {}
    left = [kernel]
    while left:
        function = left.pop()
        if function.name in found:
            continue
        body = found[function.name] = body_of(function)
        for name in _callees(body):
            callee = table.functions.get(name)
            if callee is not None and not callee.is_declaration:
                left.append(callee)
    return found


def _is_call(item: syntax.Inst | syntax.Label) -> bool:
    return isinstance(item, syntax.Inst) and (
        item.opcode in ('call', 'call.uni'))


def _callees(body: syntax.Body) -> list[str]:
    return [call_.Call(item).name for item in body.items
            if isinstance(item, syntax.Inst) and _is_call(item)]


def expand(table: parser.SymbolTable, kernel: syntax.Function,
           bodies: Bodies) -> syntax.Body:
    """Returns the kernel's body with all calls inlined that must be.

    Args:
        table (SymbolTable): The module.
        kernel (Function): The kernel.
        bodies (dict): As :func:`reachable` returns them.

    Raises:
        UnsupportedInstruction: Such a function calls itself.
    """
    inlined = _to_inline(bodies) | _short(table, bodies)
    if not inlined - {kernel.name}:
        return bodies[kernel.name]
    return _Inliner(table, kernel, bodies, inlined).run()


def _to_inline(bodies: Bodies) -> set[str]:
    """Returns the functions in which a thread may be held or end."""
    found = {name for name, body in bodies.items() if _leaves(body)}
    while True:
        more = {name for name, body in bodies.items() if name not in found
                and found.intersection(_callees(body))}
        if not more:
            return found
        found |= more


def _short(table: parser.SymbolTable, bodies: Bodies) -> set[str]:
    """Returns the functions that are short, have no loops and no calls."""
    calls = [name for body in bodies.values() for name in _callees(body)]
    return {name for name, body in bodies.items()
            if name in calls and not _callees(body)
            and calls.count(name) * len(body.items) <= _MOST_INSTRUCTIONS
            and not any(v.space == 'local' for v in body.variables.values())
            and _has_no_loop(cfg.build(body, table.text))}


def _has_no_loop(graph: cfg.Graph) -> bool:
    place = {label: n for n, label in enumerate(graph.order(graph.entry))}
    return all(place[target] > place[label] for label in place
               for target in graph.successors(label))


def _leaves(body: syntax.Body) -> bool:
    for item in body.items:
        if not isinstance(item, syntax.Inst):
            continue
        if item.opcode in _LEAVES or stops.is_stop(item.opcode):
            return True
        if _is_call(item) and '__assertfail' in item.args:
            return True
    return False


class _Inliner:
    """Builds the expanded body of a kernel."""

    def __init__(self, table: parser.SymbolTable, kernel: syntax.Function,
                 bodies: Bodies, inlined: set[str]) -> None:
        self.table = table
        self.kernel = kernel
        self.bodies = bodies
        self.inlined = inlined
        self.body = syntax.Body()
        self._serial = 0
        self._parameters: set[str] = set()

    def run(self) -> syntax.Body:
        own = self.bodies[self.kernel.name]
        self.body.regs.update(own.regs)
        self.body.variables.update(own.variables)
        self.body.targets.update(own.targets)
        self._copy(own, {}, '', (self.kernel.name,))
        promote.run(self.body, self._parameters)
        return self.body

    def _copy(self, source: syntax.Body, names: dict[str, str], end: str,
              path: tuple[str, ...]) -> None:
        """Appends the items of a body, with names replaced.

        Args:
            source (Body): A body.
            names (dict): Replacements.
            end (str): Label that a ``ret`` goes to; empty for the kernel.
            path (tuple of str): Functions being inlined, outermost first.
        """
        for item in source.items:
            if isinstance(item, syntax.Label):
                name = names.get(item.name, item.name)
                self.body.items.append(item._replace(name=name))
                continue
            inst = _renamed(item, names)
            if inst.opcode.startswith('ret') and end:
                inst = inst._replace(opcode='bra', args=(end,))
            if _is_call(inst) and call_.Call(inst).name in self.inlined:
                self._call(inst, path)
            else:
                self.body.items.append(inst)

    def _call(self, inst: syntax.Inst, path: tuple[str, ...]) -> None:
        target = call_.Call(inst)
        if target.name in path:
            raise errors.UnsupportedInstruction(
                str(inst), self.kernel.name, self.table.line(inst.pos),
                'a recursive function with barriers, exit or trap')
        function = self.table.functions[target.name]
        callee = self.bodies[target.name]
        self._serial += 1
        names = self._declare(callee, f'~i{self._serial}')
        end = f'return~i{self._serial}'
        if inst.pred:
            self._emit('bra', (end,), inst, guard=True)
        for variable, text in zip(function.params, target.params):
            self._pass(variable, text, names, inst)
        for variable, text in zip(function.rets, target.rets):
            self._bind(variable, text, names)
        self._copy(callee, names, end, (*path, target.name))
        self.body.items.append(syntax.Label(end, inst.pos))
        self._parameters.update(
            names[v.name] for v in function.rets + function.params
            if v.space == 'param')
        for variable, text in zip(function.rets, target.rets):
            self._return(variable, text, names, inst)

    def _declare(self, callee: syntax.Body, suffix: str) -> dict[str, str]:
        """Declares a callee's names under new names, and returns these."""
        names = {}
        for reg, kind in callee.regs.items():
            names[reg] = reg + suffix
            self.body.regs[reg + suffix] = kind
        for name, variable in callee.variables.items():
            if variable.space == 'shared':
                # There is one of them however often it is inlined.
                self.body.variables[name] = variable
                continue
            names[name] = name + suffix
            space = 'local' if variable.space == 'param' else variable.space
            self.body.variables[name + suffix] = variable._replace(
                name=name + suffix, space=space)
        for item in callee.items:
            if isinstance(item, syntax.Label):
                names[item.name] = item.name + suffix
        for name, labels in callee.targets.items():
            names[name] = name + suffix
            self.body.targets[name + suffix] = tuple(
                label + suffix for label in labels)
        return names

    def _emit(self, opcode: str, args: tuple[str, ...], inst: syntax.Inst,
              guard: bool = False) -> None:
        self.body.items.append(syntax.Inst(
            opcode, args, inst.pred if guard else '',
            guard and not inst.negated, inst.pos))

    def _bind(self, formal: syntax.Variable, text: str,
              names: dict[str, str]) -> bool:
        """Makes a parameter another name of the caller's variable."""
        variable = self.body.variables.get(text)
        if variable is None or formal.space == 'reg':
            return False
        self.body.variables.pop(names[formal.name])
        names[formal.name] = text
        self._parameters.add(text)
        # It may have to outlast a stop now.
        self.body.variables[text] = variable._replace(space='local')
        return True

    def _pass(self, formal: syntax.Variable, text: str,
              names: dict[str, str], inst: syntax.Inst) -> None:
        if self._bind(formal, text, names):
            return
        kind, name = formal.type.name, names[formal.name]
        if formal.space == 'reg':
            self._emit(f'mov.{kind}', (name, text), inst)
        else:
            self._emit(f'st.local.{kind}', (f'[{name}]', text), inst)

    def _return(self, formal: syntax.Variable, text: str,
                names: dict[str, str], inst: syntax.Inst) -> None:
        kind, name = formal.type.name, names[formal.name]
        if name == text or text not in self.body.regs:
            return
        if formal.space == 'reg':
            self._emit(f'mov.{kind}', (text, name), inst)
        else:
            self._emit(f'ld.local.{kind}', (text, f'[{name}]'), inst)


def _renamed(inst: syntax.Inst, names: dict[str, str]) -> syntax.Inst:
    if not names:
        return inst

    def rename(match: re.Match[str]) -> str:
        return names.get(match[0], match[0])
    return inst._replace(
        args=tuple(_WORD.sub(rename, arg) for arg in inst.args),
        pred=names.get(inst.pred, inst.pred))
