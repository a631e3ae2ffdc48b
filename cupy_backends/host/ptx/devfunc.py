"""Writes a device function that kernels call."""
from __future__ import annotations

from cupy_backends.host.ptx import blocks
from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import liveness
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import straight
from cupy_backends.host.ptx import syntax
from cupy_backends.host.ptx import writer
from cupy_backends.host.ptx.ops import call


def write(shared: program.Program, function: syntax.Function,
          body: syntax.Body) -> str:
    """Returns the text of the LLVM function of a device function.

    Args:
        shared (Program): State of the translation.
        function (Function): A function without stops, ``exit`` or ``trap``.
        body (Body): Its body.
    """
    w = writer.Writer(shared, function, body)
    for name in call.CONTEXT:
        w.env[name] = f'%{name}'
    arguments = ['ptr %launch', 'ptr %block']
    arguments += [f'i32 %{name}' for name in call.CONTEXT]
    formal = function.rets + function.params
    for number, variable in enumerate(formal):
        arguments.append(f'ptr %p{number}')
        if variable.space != 'reg':
            w.variables[variable.name] = f'%p{number}'
    lifetimes = straight.add_locals(w)
    graph = cfg.build(body, shared.table.text)
    labels = graph.order(graph.entry)
    out = blocks.BlockWriter(w, graph, labels, {},
                             lambda term: _leave(w, function, term))
    live = liveness.Liveness(graph, body).live_in(graph.entry)
    initial = dict.fromkeys(live, 'zeroinitializer')
    initial.update(_register_parameters(w, function))
    out.start(initial.get, {})
    out.write()
    head = (f'define internal void {call.llvm_name(function.name)}'
            f'({", ".join(arguments)}) #1 {{')
    return '\n'.join([head, 'entry:', *w.allocas, *w.prologue, lifetimes,
                      *w.lines, '}'])


def _register_parameters(w: writer.Writer,
                         function: syntax.Function) -> dict[str, str]:
    """Loads the parameters that are registers at the function's start."""
    found = {}
    for number, variable in enumerate(function.rets + function.params):
        if variable.space == 'reg' and number >= len(function.rets):
            found[variable.name] = w.inst(
                f'load {variable.type.llvm}, ptr %p{number}')
    return found


def _leave(w: writer.Writer, function: syntax.Function,
           term: cfg.Term) -> str:
    if term.kind != 'ret':
        assert term.inst is not None
        raise w.unsupported(term.inst, 'in a recursive function')
    for number, variable in enumerate(function.rets):
        if variable.space == 'reg':
            w.stmt(f'store {variable.type.llvm} {w.read(variable.name)}, '
                   f'ptr %p{number}')
    return 'ret void'
