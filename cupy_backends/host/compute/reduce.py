"""Reductions of all elements and of segments."""
from __future__ import annotations

from typing import Any

from cupy_backends.host.compute import code
from cupy_backends.host.compute import program

# A chunk of elements in their order; also the first step of a scan.
FOLD = '''
extern "C" __global__ void fold(In in, Op op, i64 n, i64 chunk, T *partial) {
    i64 c = thread(), i = c * chunk;
    if (i >= n) return;
    i64 end = min(i + chunk, n);
    T sum = Convert<T>::from(in.load(i));
    while (++i < end) sum = op(sum, Convert<T>::from(in.load(i)));
    partial[c] = sum;
}
'''
_FINISH = '''
extern "C" __global__ void finish(Out out, Op op, i64 n, const T *partial,
                                  Init init, i64 has_init) {
    if (thread() || !(n || has_init)) return;
    T sum = has_init ? init.load(0) : partial[0];
    for (i64 c = !has_init; c < n; ++c) sum = op(sum, partial[c]);
    out.store(0, sum);
}
'''
_SEGMENTS = '''
extern "C" __global__ void segments(In in, Out out, Start start, End end,
                                    Op op, i64 n, Init init) {
    i64 s = thread();
    if (s >= n) return;
    T sum = init.load(0);
    i64 stop = end.load(s);
    for (i64 i = start.load(s); i < stop; ++i) {
        sum = op(sum, Convert<T>::from(in.load(i)));
    }
    out.store(s, sum);
}
'''


class Reduce(program.BuildResult):
    """``out[0] = init op in[0] op in[1] ...``"""

    def __init__(self, d_in: Any, d_out: Any, op: Any, init_type: Any,
                 init_kind: Any, determinism: Any, info: Any) -> None:
        self.determinism = determinism
        self._has_init = init_kind.name != 'NO_INIT'
        self._size: int = init_type.size
        source = code.Source()
        source.type('T', init_type)
        source.iterators(In=d_in, Out=d_out)
        source.constant('Init', init_type)
        source.operator('Op', op, ['T', 'T'], 'T')
        source.add(FOLD + _FINISH)
        self._program = program.Program(source, info)

    def compute(self, storage: int, nbytes: int, d_in: Any, d_out: Any,
                num_items: int, op: Any, init: Any, stream: Any) -> int:
        if not storage:
            return program.Chunks.MAX * self._size
        chunks = program.Chunks(num_items)
        state = code.operator_state(op)
        self._program.launch(
            'fold', chunks.count, stream, code.iterator_state(d_in), state,
            num_items, chunks.size, storage)
        value = bytes(init.state) if self._has_init else bytes(self._size)
        self._program.launch(
            'finish', 1, stream, code.iterator_state(d_out), state,
            chunks.count, storage, value, int(self._has_init))
        return nbytes

    # This order is always the same.
    compute_nondeterministic = compute


class SegmentedReduce(program.BuildResult):
    """Reduces ``in[start[s]:end[s]]`` for each segment ``s``."""

    def __init__(self, d_in: Any, d_out: Any, start: Any, end: Any, op: Any,
                 init: Any, info: Any) -> None:
        source = code.Source()
        source.type('T', init.type)
        source.iterators(In=d_in, Out=d_out, Start=start, End=end)
        source.constant('Init', init.type)
        source.operator('Op', op, ['T', 'T'], 'T')
        source.add(_SEGMENTS)
        self._program = program.Program(source, info)

    def compute(self, storage: int, nbytes: int, d_in: Any, d_out: Any,
                num_segments: int, start: Any, end: Any, op: Any, init: Any,
                max_segment_size: int | None = None,
                stream: Any = None) -> int:
        if not storage:
            return 1
        self._program.launch(
            'segments', num_segments, stream,
            *map(code.iterator_state, (d_in, d_out, start, end)),
            code.operator_state(op), num_segments, bytes(init.state))
        return nbytes
