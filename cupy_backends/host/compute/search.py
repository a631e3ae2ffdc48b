"""Binary searches and histograms: one thread finds one value's place."""
from __future__ import annotations

from typing import Any

from cupy_backends.host.compute import code
from cupy_backends.host.compute import program

_SEARCH = '''
extern "C" __global__ void search(Data data, Values values, Out out,
                                  Before before, i64 n, i64 n_values,
                                  i64 upper) {
    i64 i = thread(), low = 0, high = n;
    if (i >= n_values) return;
    auto value = Convert<Data::T>::from(values.load(i));
    while (low < high) {
        i64 mid = (low + high) / 2;
        auto x = data.load(mid);
        if (upper ? !before(value, x) : before(x, value)) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    out.store(i, low);
}
'''
_HISTOGRAM = '''
__device__ void increment(int *p) { atomicAdd(p, 1); }
__device__ void increment(unsigned *p) { atomicAdd(p, 1u); }
__device__ void increment(float *p) { atomicAdd(p, 1.f); }
__device__ void increment(double *p) { atomicAdd(p, 1.); }
__device__ void increment(unsigned long long *p) { atomicAdd(p, 1ull); }
__device__ void increment(long long *p) {
    atomicAdd((unsigned long long *)p, 1ull);
}
extern "C" __global__ void zero(Bins bins, i64 n) {
    if (thread() < n) bins.store(thread(), 0);
}
extern "C" __global__ void count(Samples samples, Bins bins, Level lower,
                                 Level upper, i64 n_bins, i64 n) {
    i64 i = thread();
    if (i >= n) return;
    L x = Convert<L>::from(samples.load(i));
    L low = lower.load(0), high = upper.load(0);
    if (!(x >= low && x < high)) return;
    double scaled = ((double)x - (double)low) * n_bins
        / ((double)high - (double)low);
    i64 bin = {is_float} ? (i64)scaled
        : (i64)(x - low) * n_bins / (i64)(high - low);
    increment(bins.p + (bin < n_bins ? bin : n_bins - 1));
}
'''


class BinarySearch(program.BuildResult):
    """Where each value may be inserted, as an unsigned integer."""

    def __init__(self, mode: Any, d_data: Any, d_values: Any, d_out: Any,
                 before: Any, info: Any) -> None:
        self._upper = int(mode.name == 'UPPER_BOUND')
        source = code.Source()
        source.iterators(Data=d_data, Values=d_values, Out=d_out)
        value = code.c_type(d_data.value_type)
        source.operator('Before', before, [value, value], 'unsigned char')
        source.add(_SEARCH)
        self._program = program.Program(source, info)

    def compute(self, d_data: Any, num_items: int, d_values: Any,
                num_values: int, d_out: Any, before: Any,
                stream: Any) -> None:
        self._program.launch(
            'search', num_values, stream,
            *map(code.iterator_state, (d_data, d_values, d_out)),
            code.operator_state(before), num_items, num_values, self._upper)


class Histogram(program.BuildResult):
    """Counts samples in bins of one width; the last excludes its end."""

    def __init__(self, num_channels: int, num_active_channels: int,
                 d_samples: Any, num_levels: int, d_histogram: Any,
                 level_type: Any, num_rows: int, row_stride_samples: int,
                 is_evenly_segmented: bool, info: Any) -> None:
        source = code.Source()
        source.type('L', level_type)
        source.iterators(Samples=d_samples, Bins=d_histogram)
        source.constant('Level', level_type)
        is_float = code.c_type(level_type) in ('float', 'double')
        source.add(_HISTOGRAM.replace('{is_float}', str(int(is_float))))
        self._program = program.Program(source, info)

    def compute_even(self, storage: int, nbytes: int, d_samples: Any,
                     d_histogram: Any, num_levels: Any, lower: Any,
                     upper: Any, num_samples: int, num_rows: int,
                     row_stride_samples: int, stream: Any) -> int:
        if not storage:
            return 1
        n_bins = int.from_bytes(bytes(num_levels.state), 'little') - 1
        bins = code.iterator_state(d_histogram)
        self._program.launch('zero', n_bins, stream, bins, n_bins)
        self._program.launch(
            'count', num_samples, stream, code.iterator_state(d_samples),
            bins, bytes(lower.state), bytes(upper.state), n_bins, num_samples)
        return nbytes
