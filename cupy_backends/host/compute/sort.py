"""Sorts all elements or segments.

Merge sorts, which are stable, from short runs that are sorted by insertion.
"""
from __future__ import annotations

import struct
from typing import Any

from cupy_backends.host.compute import code
from cupy_backends.host.compute import program
from cupy_backends.host.runtime import missing

_RUN = 8

# By bits of numbers, as a radix sort does: -0 is 0, NaN is beyond infinity.
_BY_BITS = '''
struct Before {{
    i64 begin, bits;
    __device__ unsigned long long place(K x) const {{
        unsigned long long u = 0, sign = 1ull << (8 * sizeof x - 1);
        memcpy(&u, &x, sizeof x);
        if ({is_float} && u == sign) u = 0;
        if ({is_float} && u & sign) {{
            u = ~u & (2 * sign - 1);
        }} else if (!{is_unsigned}) {{
            u ^= sign;
        }}
        u >>= begin;
        return bits < 64 ? u & ((1ull << bits) - 1) : u;
    }}
    __device__ bool operator()(K x, K y) const {{
        return {descending} ? place(y) < place(x) : place(x) < place(y);
    }}
}};
'''
_RUNS = '''
struct Run {
    K *keys;
    V *values;
    bool has_values;
    __device__ void set(i64 i, const Run &from, i64 j) const {
        keys[i] = from.keys[j];
        if (has_values) values[i] = from.values[j];
    }
    __device__ void insert(i64 start, i64 i, const Before &before) const {
        K key = keys[i];
        V value;
        if (has_values) value = values[i];
        for (; i > start && before(key, keys[i - 1]); --i) {
            set(i, *this, i - 1);
        }
        keys[i] = key;
        if (has_values) values[i] = value;
    }
    template <class Keys, class Values>
    __device__ void load(const Keys &k, const Values &v, i64 i) const {
        keys[i] = Convert<K>::from(k.load(i));
        if (has_values) values[i] = Convert<V>::from(v.load(i));
    }
    // Merges runs from i to mid and from there to end.
    __device__ void merge(i64 i, i64 width, i64 last, const Run &to,
                          const Before &before) const {
        i64 mid = min(i + width, last), end = min(mid + width, last);
        for (i64 k = i, j = mid; k < end; ++k) {
            bool right = j < end && (i >= mid || before(keys[j], keys[i]));
            to.set(k, *this, right ? j++ : i++);
        }
    }
};
'''
_SEGMENTS = '''
extern "C" __global__ void segments(
        Keys keys, Values values, Start start, End end, K *k, V *v, K *k2,
        V *v2, Before before, i64 n, i64 run, i64 has_values) {
    i64 s = thread();
    if (s >= n) return;
    const i64 first = start.load(s), last = end.load(s);
    Run now = {k, v, has_values != 0}, next = {k2, v2, has_values != 0};
    for (i64 i = first; i < last; ++i) {
        now.load(keys, values, i);
        now.insert(i - (i - first) % run, i, before);
    }
    for (i64 width = run; width < last - first; width *= 2) {
        for (i64 i = first; i < last; i += 2 * width) {
            now.merge(i, width, last, next, before);
        }
        Run other = now;
        now = next;
        next = other;
    }
    if (now.keys == k) return;
    for (i64 i = first; i < last; ++i) next.set(i, now, i);
}
'''
_WHOLE = '''
extern "C" __global__ void runs(Keys keys, Values values, K *k, V *v,
                                Before before, i64 n, i64 run,
                                i64 has_values) {
    i64 first = thread() * run;
    Run now = {k, v, has_values != 0};
    for (i64 i = first; i < first + run && i < n; ++i) {
        now.load(keys, values, i);
        now.insert(first, i, before);
    }
}
extern "C" __global__ void merge(K *k, V *v, K *k2, V *v2, Before before,
                                 i64 n, i64 width, i64 has_values) {
    i64 first = thread() * 2 * width;
    Run now = {k, v, has_values != 0}, next = {k2, v2, has_values != 0};
    if (first < n) now.merge(first, width, n, next, before);
}
'''


class _Sort(program.BuildResult):

    def _source(self, d_keys: Any, d_values: Any) -> code.Source:
        key, value = d_keys.value_type, d_values.value_type
        self._sizes = key.size, value.size
        source = code.Source()
        source.type('K', key)
        source.type('V', value)
        source.iterators(Keys=d_keys, Values=d_values)
        return source

    def _storage(self, n: int) -> tuple[int, int]:
        """Returns sizes in bytes of keys and values to store."""
        return tuple(-(-n * size // 256) * 256
                     for size in self._sizes)

    def _sort(self, storage: int, d_keys: Any, d_values: Any, d_keys_out: Any,
              d_values_out: Any, before: bytes, n: int, stream: Any) -> None:
        has_values = int(bool(d_values_out.state))
        given = d_keys_out.state, d_values_out.state
        own = storage, storage + self._storage(n)[0]
        widths: list[int] = []
        while (_RUN << len(widths)) < n:
            widths.append(_RUN << len(widths))
        now, then = (own, given) if len(widths) % 2 else (given, own)
        self._program.launch(
            'runs', -(-n // _RUN), stream, code.iterator_state(d_keys),
            code.iterator_state(d_values), *now, before, n, _RUN, has_values)
        for width in widths:
            self._program.launch(
                'merge', -(-n // (2 * width)), stream, *now, *then, before, n,
                width, has_values)
            now, then = then, now


def _by_bits(key: Any, order: Any) -> str:
    c_type = code.c_type(key)
    if c_type.startswith('Bytes'):
        raise missing.NotOnHostDevice(
            'sorting keys that are no numbers by their bits is not '
            'implemented on the host device: use merge_sort',
            name='cuda.compute')
    return _BY_BITS.format(
        is_float=int(c_type in ('float', 'double', '__half',
                                '__nv_bfloat16')),
        is_unsigned=int('unsigned' in c_type or c_type == 'bool'),
        descending=int(order.name == 'DESCENDING'))


class MergeSort(_Sort):
    """Sorts keys by an operator, and items with them."""

    def __init__(self, d_keys: Any, d_items: Any, d_keys_out: Any,
                 d_items_out: Any, op: Any, info: Any) -> None:
        source = self._source(d_keys, d_items)
        source.operator('Before', op, ['K', 'K'], 'bool')
        source.add(_RUNS + _WHOLE)
        self._program = program.Program(source, info)

    def compute(self, storage: int, nbytes: int, d_keys: Any, d_items: Any,
                d_keys_out: Any, d_items_out: Any, num_items: int, op: Any,
                stream: Any) -> int:
        if not storage:
            return sum(self._storage(num_items)) + 1
        self._sort(storage, d_keys, d_items, d_keys_out, d_items_out,
                   code.operator_state(op), num_items, stream)
        return nbytes


class RadixSort(_Sort):
    """Sorts keys by some of their bits, and values with them."""

    def __init__(self, order: Any, d_keys: Any, d_values: Any, decomposer: Any,
                 decomposed_type: bytes, info: Any) -> None:
        source = self._source(d_keys, d_values)
        source.add(_by_bits(d_keys.value_type, order) + _RUNS + _WHOLE)
        self._program = program.Program(source, info)

    def compute(self, storage: int, nbytes: int, d_keys: Any, d_keys_out: Any,
                d_values: Any, d_values_out: Any, decomposer: Any,
                num_items: int, begin_bit: int, end_bit: int,
                is_overwrite_okay: bool, selector: int,
                stream: Any) -> tuple[int, int]:
        if not storage:
            return sum(self._storage(num_items)) + 1, selector
        before = struct.pack('qq', begin_bit, end_bit - begin_bit)
        self._sort(storage, d_keys, d_values, d_keys_out, d_values_out,
                   before, num_items, stream)
        return nbytes, 1  # the result is in the second buffer


class SegmentedSort(_Sort):
    """Sorts ``keys[start[s]:end[s]]``, and values with them."""

    def __init__(self, order: Any, d_keys: Any, d_values: Any, start: Any,
                 end: Any, info: Any) -> None:
        source = self._source(d_keys, d_values)
        source.iterators(Start=start, End=end)
        source.add(_by_bits(d_keys.value_type, order) + _RUNS + _SEGMENTS)
        self._program = program.Program(source, info)

    def compute(self, storage: int, nbytes: int, d_keys: Any, d_keys_out: Any,
                d_values: Any, d_values_out: Any, num_items: int,
                num_segments: int, start: Any, end: Any,
                is_overwrite_okay: bool, selector: int,
                stream: Any) -> tuple[int, int]:
        sizes = self._storage(num_items)
        if not storage:
            return sum(sizes) + 1, selector
        self._program.launch(
            'segments', num_segments, stream,
            *map(code.iterator_state, (d_keys, d_values, start, end)),
            d_keys_out.state, d_values_out.state, storage, storage + sizes[0],
            struct.pack('qq', 0, 8 * self._sizes[0]), num_segments, _RUN,
            int(bool(d_values_out.state)))
        return nbytes, 1  # the result is in the second buffer
