"""Selects elements, in their order."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cupy_backends.host.compute import code
from cupy_backends.host.compute import program

# Of each chunk, how many elements go to the first and the second output;
# then, where these begin.  Around it are part(operands, i) and
# put(operands, part, to, i).
_KERNELS = '''
extern "C" __global__ void count({declared}, i64 n, i64 chunk, i64 *counts) {{
    i64 c = thread(), i = c * chunk;
    if (i >= n) return;
    i64 found[3] = {{}};
    for (i64 end = min(i + chunk, n); i < end; ++i) {{
        ++found[part({passed}, i)];
    }}
    counts[2 * c] = found[0];
    counts[2 * c + 1] = found[1];
}}
extern "C" __global__ void begin(Count count, i64 n, i64 *counts) {{
    if (thread()) return;
    i64 sums[2] = {{}};
    for (i64 c = 0; c < 2 * n; ++c) {{
        i64 found = counts[c];
        counts[c] = sums[c & 1];
        sums[c & 1] += found;
    }}
    for (int k = 0; k < {outputs}; ++k) count.store(k, sums[k]);
}}
extern "C" __global__ void place({declared}, i64 n, i64 chunk,
                                 const i64 *counts) {{
    i64 c = thread(), i = c * chunk;
    if (i >= n) return;
    i64 to[3] = {{counts[2 * c], counts[2 * c + 1], i}};
    to[2] -= to[0] + to[1];
    for (i64 end = min(i + chunk, n); i < end; ++i) {{
        int k = part({passed}, i);
        put({passed}, k, to[k]++, i);
    }}
}}
'''
_PREDICATES = '''
__device__ int part({declared}, i64 i) {{
    auto x = in.load(i);
    return first(x) ? 0 : second(x) ? 1 : 2;
}}
__device__ void put({declared}, int k, i64 to, i64 i) {{
    auto x = in.load(i);
    if (k == 0) out0.store(to, x);
    if (k == 1) out1.store(to, x);
    if (k == 2) out2.store(to, x);
}}
'''
_NEIGHBOURS = '''
__device__ int part({declared}, i64 i) {{
    return i && same(keys.load(i - 1), keys.load(i)) ? 2 : 0;
}}
__device__ void put({declared}, int k, i64 to, i64 i) {{
    if (k) return;
    keys_out.store(to, keys.load(i));
    values_out.store(to, values.load(i));
}}
'''


class _Partition(program.BuildResult):

    def _build(self, source: code.Source, operands: Mapping[str, str],
               text: str, outputs: int, info: Any) -> None:
        """Adds the kernels.

        Args:
            operands (mapping): Type of each, by name.
        """
        source.add((text + _KERNELS).format(
            declared=', '.join(f'{t} {x}' for x, t in operands.items()),
            passed=', '.join(operands), outputs=outputs))
        self._program = program.Program(source, info)

    def _run(self, storage: int, operands: tuple[bytes, ...], count: Any,
             n: int, stream: Any) -> None:
        chunks = program.Chunks(n)
        args: tuple[bytes | int, ...] = (
            *operands, n, chunks.size, storage)
        self._program.launch('count', chunks.count, stream, *args)
        self._program.launch(
            'begin', 1, stream, code.iterator_state(count), chunks.count,
            storage)
        self._program.launch('place', chunks.count, stream, *args)

    _NBYTES = 2 * 8 * program.Chunks.MAX


class ThreeWayPartition(_Partition):
    """Copies elements to the output of the first predicate that holds.

    The numbers of elements in the first and the second output are stored in
    ``d_num_selected[0:2]``.
    """

    def __init__(self, d_in: Any, d_first: Any, d_second: Any,
                 d_unselected: Any, d_num_selected: Any, first: Any,
                 second: Any, info: Any) -> None:
        source = code.Source()
        source.iterators(In=d_in, Out0=d_first, Out1=d_second,
                         Out2=d_unselected, Count=d_num_selected)
        for name, op in dict(First=first, Second=second).items():
            source.operator(
                name, op, [code.c_type(d_in.value_type)], 'unsigned char')
        self._build(source, {
            'in': 'In', 'out0': 'Out0', 'out1': 'Out1', 'out2': 'Out2',
            'first': 'First', 'second': 'Second'}, _PREDICATES, 2, info)

    def compute(self, storage: int, nbytes: int, d_in: Any, d_first: Any,
                d_second: Any, d_unselected: Any, d_num_selected: Any,
                first: Any, second: Any, num_items: int,
                stream: Any) -> int:
        if not storage:
            return self._NBYTES
        iterators = d_in, d_first, d_second, d_unselected
        self._run(storage, (
            *map(code.iterator_state, iterators),
            *map(code.operator_state, (first, second))),
            d_num_selected, num_items, stream)
        return nbytes


class UniqueByKey(_Partition):
    """Copies the first of each run of equal keys, and its value."""

    def __init__(self, d_keys: Any, d_values: Any, d_keys_out: Any,
                 d_values_out: Any, d_num_selected: Any, same: Any,
                 info: Any) -> None:
        source = code.Source()
        source.iterators(Keys=d_keys, Values=d_values, KeysOut=d_keys_out,
                         ValuesOut=d_values_out, Count=d_num_selected)
        key = code.c_type(d_keys.value_type)
        source.operator('Same', same, [key, key], 'unsigned char')
        self._build(source, {
            'keys': 'Keys', 'values': 'Values', 'keys_out': 'KeysOut',
            'values_out': 'ValuesOut', 'same': 'Same'}, _NEIGHBOURS, 1, info)

    def compute(self, storage: int, nbytes: int, d_keys: Any, d_values: Any,
                d_keys_out: Any, d_values_out: Any, d_num_selected: Any,
                same: Any, num_items: int, stream: Any) -> int:
        if not storage:
            return self._NBYTES
        iterators = d_keys, d_values, d_keys_out, d_values_out
        self._run(storage, (*map(code.iterator_state, iterators),
                            code.operator_state(same)),
                  d_num_selected, num_items, stream)
        return nbytes
