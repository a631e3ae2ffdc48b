"""Calls of device functions.

Parameters lie in memory on both sides: a call hands over one pointer for
each, and LLVM turns them into registers when it inlines the function.

Source: PTX ISA, sections "Control Flow Instructions: call" and "Abstracting
the ABI".
"""
from __future__ import annotations

import functools

from cupy_backends.host.ptx import optable
from cupy_backends.host.ptx import runtime_calls
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer

family = functools.partial(
    optable.family, section='Control Flow Instructions')

Writer = writer.Writer
Inst = syntax.Inst

# Values that every device function gets before its own parameters.
CONTEXT = ('tid.x', 'tid.y', 'tid.z', 'ctaid.x', 'ctaid.y', 'ctaid.z')


class Call:
    """The operands of a ``call``.

    Attributes:
        rets, params (list of str): Names of parameter variables, registers
            or constants.
        name (str): Function.
    """

    def __init__(self, inst: Inst) -> None:
        args = list(inst.args)
        self.rets = self._list(args.pop(0)) if args[0][0] == '(' else []
        self.name = args.pop(0)
        self.params = self._list(args.pop(0)) if args else []

    @staticmethod
    def _list(text: str) -> list[str]:
        return [word for word in text[1:-1].split(',') if word]


@family('call', 'direct calls; vprintf, malloc, free, __assertfail',
        has_dest=False)
def call(w: Writer, inst: Inst) -> None:
    target = Call(inst)
    if target.name in runtime_calls.FUNCTIONS:
        _call_runtime(w, inst, target)
        return
    function = w.program.table.functions.get(target.name)
    if function is None:
        raise writer.Reject('indirect calls')
    if function.is_declaration:
        raise writer.Reject(f'the function {target.name} has no body')
    w.program.called[target.name] = function
    pointers = _arguments(w, function, target)
    context = ['ptr %launch', 'ptr %block']
    context += [f'i32 {w.env[name]}' for name in CONTEXT]
    arguments = ', '.join(context + [f'ptr {p}' for p in pointers])
    w.stmt(f'call void {llvm_name(target.name)}({arguments})')
    _take_results(w, inst, function, target, pointers)


def _call_runtime(w: Writer, inst: Inst, target: Call) -> None:
    result = runtime_calls.FUNCTIONS[target.name](w, target.params)
    for text in target.rets:
        assert result is not None
        kind, value = result
        if text in w.variables:
            w.stmt(f'store {kind.llvm} {value}, ptr {w.variables[text]}')
        else:
            w.assign(inst, text, kind, value)


def llvm_name(name: str) -> str:
    return f'@"f.{name}"'


def _arguments(w: Writer, function: syntax.Function,
               target: Call) -> list[str]:
    """Returns a pointer for each result and parameter."""
    formal = function.rets + function.params
    actual = target.rets + target.params
    if len(formal) != len(actual):
        raise writer.Reject(f'{len(formal)} parameters expected')
    pointers = []
    for number, (variable, text) in enumerate(zip(formal, actual)):
        if text in w.variables:
            pointers.append(w.variables[text])
            continue
        pointer = w.alloca(variable.type.llvm)
        pointers.append(pointer)
        if number >= len(function.rets):
            value = w.source(text, variable.type)
            w.stmt(f'store {variable.type.llvm} {value}, ptr {pointer}')
    return pointers


def _take_results(w: Writer, inst: Inst, function: syntax.Function,
                  target: Call, pointers: list[str]) -> None:
    """Reads the results that go to registers."""
    for variable, text, pointer in zip(function.rets, target.rets, pointers):
        if text not in w.variables:
            value = w.inst(f'load {variable.type.llvm}, ptr {pointer}')
            w.assign(inst, text, variable.type, value)
