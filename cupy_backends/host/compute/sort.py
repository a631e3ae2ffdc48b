"""Sorts segments."""
from __future__ import annotations

from typing import Any

from cupy_backends.host.compute import code
from cupy_backends.host.compute import program
from cupy_backends.host.runtime import missing

# A stable merge sort by one thread, from runs that are sorted by insertion.
# NaN is greater than all numbers.
_TEXT = '''
__device__ bool less(K x, K y) { return x < y || (y != y && x == x); }
__device__ bool before(K x, K y) {
    return descending ? less(y, x) : less(x, y);
}

struct Run {
    K *keys;
    V *values;
    bool has_values;
    __device__ void set(i64 i, const Run &from, i64 j) const {
        keys[i] = from.keys[j];
        if (has_values) values[i] = from.values[j];
    }
    __device__ void insert(i64 start, i64 i) const {
        K key = keys[i];
        V value;
        if (has_values) value = values[i];
        for (; i > start && before(key, keys[i - 1]); --i) {
            set(i, *this, i - 1);
        }
        keys[i] = key;
        if (has_values) values[i] = value;
    }
    __device__ void merge(i64 i, i64 mid, i64 end, const Run &to) const {
        for (i64 k = i, j = mid; k < end; ++k) {
            bool right = j < end && (i >= mid || before(keys[j], keys[i]));
            to.set(k, *this, right ? j++ : i++);
        }
    }
};

extern "C" __global__ void sort(Keys keys, KeysOut keys_out, Values values,
                                ValuesOut values_out, Start start, End end,
                                i64 n, i64 has_values, K *key_space,
                                V *value_space) {
    i64 s = thread();
    if (s >= n) return;
    const i64 first = start.load(s), last = end.load(s), run = 8;
    Run now = {keys_out.p, values_out.p, has_values != 0};
    Run next = {key_space, value_space, has_values != 0};
    for (i64 i = first; i < last; ++i) {
        now.keys[i] = Convert<K>::from(keys.load(i));
        if (has_values) now.values[i] = Convert<V>::from(values.load(i));
        now.insert(i - (i - first) % run, i);
    }
    for (i64 width = run; width < last - first; width *= 2) {
        for (i64 i = first; i < last; i += 2 * width) {
            i64 mid = i + width < last ? i + width : last;
            i64 stop = mid + width < last ? mid + width : last;
            now.merge(i, mid, stop, next);
        }
        Run other = now;
        now = next;
        next = other;
    }
    if (now.keys == keys_out.p) return;
    for (i64 i = first; i < last; ++i) next.set(i, now, i);
}
'''


class SegmentedSort(program.BuildResult):
    """Sorts ``keys[start[s]:end[s]]``, and values with them."""

    def __init__(self, order: Any, d_keys: Any, d_values: Any, start: Any,
                 end: Any, info: Any) -> None:
        key, value = d_keys.value_type, d_values.value_type
        if code.c_type(key).startswith('Bytes'):
            raise missing.NotOnHostDevice(
                'sorting keys that are no numbers by cuda.compute is not '
                'implemented on the host device', name='cuda.compute')
        self._sizes = key.size, value.size
        source = code.Source()
        source.type('K', key)
        source.type('V', value)
        source.add('constexpr bool descending = '
                   f'{int(order.name == "DESCENDING")};\n'
                   'struct KeysOut { K *p; };\nstruct ValuesOut { V *p; };\n')
        for name, iterator in dict(
                Keys=d_keys, Values=d_values, Start=start, End=end).items():
            source.iterator(name, iterator)
        source.add(_TEXT)
        self._program = program.Program(source, info)

    def compute(self, storage: int, nbytes: int, d_keys: Any, d_keys_out: Any,
                d_values: Any, d_values_out: Any, num_items: int,
                num_segments: int, start: Any, end: Any,
                is_overwrite_okay: bool, selector: int,
                stream: Any) -> tuple[int, int]:
        key_size, value_size = self._sizes
        keys_nbytes = -(-num_items * key_size // 256) * 256
        if not storage:
            return keys_nbytes + num_items * value_size + 1, selector
        has_values = not d_values_out.is_ptr_kind or bool(d_values_out.state)
        self._program.launch(
            'sort', num_segments, stream,
            *map(code.iterator_state, (
                d_keys, d_keys_out, d_values, d_values_out, start, end)),
            num_segments, int(has_values), storage, storage + keys_nbytes)
        return nbytes, 1  # the result is in the second buffer
