"""Inclusive and exclusive scans."""
from __future__ import annotations

import functools
from typing import Any

from cupy_backends.host.compute import code
from cupy_backends.host.compute import program
from cupy_backends.host.compute import reduce

# What comes before each chunk; the first has nothing without an init.
_BEFORE = '''
extern "C" __global__ void before(Op op, i64 n, T *partial, Init init,
                                  i64 has) {
    if (thread()) return;
    T sum;
    if (has) sum = Convert<T>::from(init.load(0));
    for (i64 c = 0; c < n; ++c, has = 1) {
        T chunk = partial[c];
        if (has) partial[c] = sum;
        sum = has ? op(sum, chunk) : chunk;
    }
}
'''
_WRITE = '''
extern "C" __global__ void write(In in, Out out, Op op, i64 n, i64 chunk,
                                 const T *partial, i64 has, i64 inclusive) {
    i64 c = thread(), i = c * chunk;
    if (i >= n) return;
    i64 end = min(i + chunk, n);
    has = has || c;
    T sum = partial[c];
    for (; i < end; ++i, has = 1) {
        T x = Convert<T>::from(in.load(i));
        T next = has ? op(sum, x) : x;
        out.store(i, inclusive ? next : sum);
        sum = next;
    }
}
'''


class Scan(program.BuildResult):
    """``out[i] = init op in[0] op ...``, up to ``in[i]`` or before it."""

    def __init__(self, d_in: Any, d_out: Any, op: Any, init_type: Any,
                 force_inclusive: bool, init_kind: Any, info: Any) -> None:
        self._kind = init_kind.name
        self._size: int = init_type.size
        source = code.Source()
        source.type('T', init_type)
        source.iterators(In=d_in, Out=d_out)
        if self._kind == 'FUTURE_VALUE_INIT':
            source.add('struct Init { const T *p; __device__ T load(i64) '
                       'const { return *p; } };\n')
        else:
            source.constant('Init', init_type)
        source.operator('Op', op, ['T', 'T'], 'T')
        source.add(reduce.FOLD + _BEFORE + _WRITE)
        self._program = program.Program(source, info)

    def _init_state(self, init: Any) -> bytes:
        if self._kind == 'NO_INIT':
            return bytes(self._size)
        if self._kind == 'VALUE_INIT':
            return bytes(init.state)
        return code.iterator_state(init)

    def _compute(self, inclusive: bool, storage: int, nbytes: int, d_in: Any,
                 d_out: Any, num_items: int, op: Any, init: Any,
                 stream: Any) -> int:
        if not storage:
            return program.Chunks.MAX * self._size
        chunks = program.Chunks(num_items)
        state, has = code.operator_state(op), int(self._kind != 'NO_INIT')
        self._program.launch(
            'fold', chunks.count, stream, code.iterator_state(d_in), state,
            num_items, chunks.size, storage)
        self._program.launch(
            'before', int(num_items > 0), stream, state, chunks.count,
            storage, self._init_state(init), has)
        self._program.launch(
            'write', chunks.count, stream, code.iterator_state(d_in),
            code.iterator_state(d_out), state, num_items, chunks.size,
            storage, has, int(inclusive))
        return nbytes

    compute_inclusive = functools.partialmethod(_compute, True)
    compute_exclusive = functools.partialmethod(_compute, False)
    compute_inclusive_no_init = compute_inclusive
    compute_inclusive_future_value = compute_inclusive
    compute_exclusive_future_value = compute_exclusive
