"""Selects elements, in their order."""
from __future__ import annotations

from typing import Any

from cupy_backends.host.compute import code
from cupy_backends.host.compute import program

# Of each chunk, how many elements go to the first and the second output;
# then, where these begin.
_TEXT = '''
__device__ int part(const First &first, const Second &second, In::T x) {
    return first(x) ? 0 : second(x) ? 1 : 2;
}
extern "C" __global__ void count(In in, First first, Second second, i64 n,
                                 i64 chunk, i64 *counts) {
    i64 c = thread(), i = c * chunk;
    if (i >= n) return;
    i64 found[3] = {};
    for (i64 end = i + chunk < n ? i + chunk : n; i < end; ++i) {
        ++found[part(first, second, in.load(i))];
    }
    counts[2 * c] = found[0];
    counts[2 * c + 1] = found[1];
}
extern "C" __global__ void begin(Count count, i64 n, i64 *counts) {
    if (thread()) return;
    i64 sums[2] = {};
    for (i64 c = 0; c < 2 * n; ++c) {
        i64 found = counts[c];
        counts[c] = sums[c & 1];
        sums[c & 1] += found;
    }
    count.store(0, sums[0]);
    count.store(1, sums[1]);
}
extern "C" __global__ void place(In in, First first, Second second, Out0 out0,
                                 Out1 out1, Out2 out2, i64 n, i64 chunk,
                                 const i64 *counts) {
    i64 c = thread(), i = c * chunk;
    if (i >= n) return;
    i64 to[3] = {counts[2 * c], counts[2 * c + 1], i};
    to[2] -= to[0] + to[1];
    for (i64 end = i + chunk < n ? i + chunk : n; i < end; ++i) {
        In::T x = in.load(i);
        switch (part(first, second, x)) {
            case 0: out0.store(to[0]++, x); break;
            case 1: out1.store(to[1]++, x); break;
            default: out2.store(to[2]++, x);
        }
    }
}
'''


class ThreeWayPartition(program.BuildResult):
    """Copies elements to the output of the first predicate that holds.

    The numbers of elements in the first and the second output are stored in
    ``d_num_selected[0:2]``.
    """

    def __init__(self, d_in: Any, d_first: Any, d_second: Any,
                 d_unselected: Any, d_num_selected: Any, first: Any,
                 second: Any, info: Any) -> None:
        source = code.Source()
        for name, iterator in dict(
                In=d_in, Out0=d_first, Out1=d_second, Out2=d_unselected,
                Count=d_num_selected).items():
            source.iterator(name, iterator)
        for name, op in dict(First=first, Second=second).items():
            source.operator(
                name, op, [code.c_type(d_in.value_type)], 'unsigned char')
        source.add(_TEXT)
        self._program = program.Program(source, info)

    def compute(self, storage: int, nbytes: int, d_in: Any, d_first: Any,
                d_second: Any, d_unselected: Any, d_num_selected: Any,
                first: Any, second: Any, num_items: int,
                stream: Any) -> int:
        if not storage:
            return 2 * 8 * program.Chunks.MAX
        chunks = program.Chunks(num_items)
        start = (code.iterator_state(d_in), code.operator_state(first),
                 code.operator_state(second))
        end = num_items, chunks.size, storage
        self._program.launch('count', chunks.count, stream, *start, *end)
        self._program.launch(
            'begin', 1, stream, code.iterator_state(d_num_selected),
            chunks.count, storage)
        self._program.launch(
            'place', chunks.count, stream, *start,
            *map(code.iterator_state, (d_first, d_second, d_unselected)),
            *end)
        return nbytes
