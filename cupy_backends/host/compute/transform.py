"""Applies an operator elementwise."""
from __future__ import annotations

from typing import Any

from cupy_backends.host.compute import code
from cupy_backends.host.compute import program

_UNARY = '''
extern "C" __global__ void transform(In in, Out out, Op op, i64 n) {
    i64 i = thread();
    if (i < n) out.store(i, op(in.load(i)));
}
'''
_BINARY = '''
extern "C" __global__ void transform(In in, In2 in2, Out out, Op op, i64 n) {
    i64 i = thread();
    if (i < n) out.store(i, op(in.load(i), in2.load(i)));
}
'''


class _Transform(program.BuildResult):

    def _build(self, text: str, inputs: tuple[Any, ...], out: Any, op: Any,
               info: Any) -> None:
        source = code.Source()
        for name, iterator in zip(('In', 'In2'), inputs):
            source.iterator(name, iterator)
        source.iterator('Out', out)
        source.operator('Op', op, [code.c_type(x.value_type) for x in inputs],
                        code.c_type(out.value_type))
        source.add(text)
        self._program = program.Program(source, info)

    def _run(self, iterators: tuple[Any, ...], n: int, op: Any,
             stream: Any) -> None:
        self._program.launch(
            'transform', n, stream, *map(code.iterator_state, iterators),
            code.operator_state(op), n)


class UnaryTransform(_Transform):
    """``out[i] = op(in[i])``"""

    def __init__(self, d_in: Any, d_out: Any, op: Any, info: Any) -> None:
        self._build(_UNARY, (d_in,), d_out, op, info)

    def compute(self, d_in: Any, d_out: Any, num_items: int, op: Any,
                stream: Any) -> None:
        self._run((d_in, d_out), num_items, op, stream)


class BinaryTransform(_Transform):
    """``out[i] = op(in1[i], in2[i])``"""

    def __init__(self, d_in1: Any, d_in2: Any, d_out: Any, op: Any,
                 info: Any) -> None:
        self._build(_BINARY, (d_in1, d_in2), d_out, op, info)

    def compute(self, d_in1: Any, d_in2: Any, d_out: Any, num_items: int,
                op: Any, stream: Any) -> None:
        self._run((d_in1, d_in2, d_out), num_items, op, stream)
