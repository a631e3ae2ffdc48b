/* Histograms: cub_device_histogram_* of cupy_cub.h.  A bin holds its lower
 * edge, not its upper one; samples outside of all bins count nowhere. */

#include <algorithm>
#include <type_traits>
#include <vector>

#include "../common/parallel.h"
#include "../cub/operations.h"

using namespace host;

namespace {

/* Counts samples by bin_of(sample), a number of at least `bins` if none.
 * Each thread counts for itself, unless there are so many bins that
 * zeroing and adding the counts up would take longer than the counting. */
template <typename T, typename BinOf>
void count(const T *x, size_t n, int64_t *counts, size_t bins,
           const BinOf &bin_of) {
    size_t slices = std::min<size_t>(hd_get_num_threads(), n / (bins + 4096));
    slices = std::max<size_t>(slices, 1);
    std::vector<int64_t> local((slices - 1) * bins);
    std::fill(counts, counts + bins, 0);
    parallel_for(slices, 1, [&](uint64_t slice, uint64_t) {
        int64_t *own = slice ? local.data() + (slice - 1) * bins : counts;
        size_t end = n * (slice + 1) / slices;
        for (size_t i = n * slice / slices; i < end; ++i) {
            size_t bin = bin_of(x[i]);
            if (bin < bins) ++own[bin];
        }
    });
    for (size_t i = 0; i < local.size(); ++i) counts[i % bins] += local[i];
}

/* The type that samples and edges are compared in; edges are float64 for
 * integer samples, of the samples' type otherwise. */
template <typename T>
struct Sample {
    using Edge = std::conditional_t<std::is_integral_v<T>, double, T>;
    static double value(T x) { return double(x); }
    static double edge(Edge x) { return double(x); }
};

template <>
struct Sample<Half> {
    using Edge = Half;
    static double value(Half x) { return to_float(x); }
    static double edge(Half x) { return to_float(x); }
};

template <>
struct Sample<Bool> {
    using Edge = double;
    static double value(Bool x) { return x.byte != 0; }
    static double edge(double x) { return x; }
};

/* Number of edges that are not above the sample; all of them for NaN.
 * Samples in no order would mislead the branches of std::upper_bound: this
 * has none.  `edges`: sorted, n >= 1. */
size_t edges_below(const double *edges, size_t n, double sample) {
    const double *base = edges;
    for (size_t length = n; length > 1; length -= length / 2) {
        base = !(sample < base[length / 2]) ? base + length / 2 : base;
    }
    return size_t(base - edges) + !(sample < *base);
}

template <typename T>
void histogram_range(const T *x, size_t n, int64_t *counts,
                     const typename Sample<T>::Edge *edges, size_t bins) {
    std::vector<double> sorted(bins + 1);
    std::transform(edges, edges + bins + 1, sorted.begin(), Sample<T>::edge);
    count(x, n, counts, bins, [&](T sample) {
        // Below all edges is bin -1, a huge number; NaN is in the bin
        // behind the last.
        return edges_below(sorted.data(), bins + 1,
                           Sample<T>::value(sample)) - 1;
    });
}

/* Integer samples; `bins` bins of equal width from lower to upper. */
template <typename T>
void histogram_even(const T *x, size_t n, int64_t *counts, int64_t lower,
                    int64_t upper, size_t bins) {
    __extension__ typedef __int128 Int128;
    Int128 width = Int128(upper) - lower;
    if (width == Int128(bins)) {
        count(x, n, counts, bins, [=](T sample) {
            // Wraps around to a huge number below `lower`.
            return size_t(uint64_t(int64_t(sample)) - uint64_t(lower));
        });
        return;
    }
    count(x, n, counts, bins, [=](T sample) {
        Int128 distance = Int128(sample) - lower;
        if (distance < 0 || distance >= width) return bins;
        return size_t(distance * Int128(bins) / width);
    });
}

}  // namespace

void cub_device_histogram_range(void *, size_t &, void *x, void *y,
                                int n_edges, void *edges, size_t n,
                                cudaStream_t, int dtype) {
    visit_dtype(dtype, [=](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (IsComplex<T>::value) {
            // cupy.histogram refuses complex samples.
            throw std::runtime_error("histogram of complex numbers");
        } else {
            histogram_range<T>(
                static_cast<const T *>(x), n, static_cast<int64_t *>(y),
                static_cast<const typename Sample<T>::Edge *>(edges),
                size_t(n_edges) - 1);
        }
    });
}

void cub_device_histogram_even(void *, size_t &, void *x, void *y,
                               int n_edges, int lower, int upper, size_t n,
                               cudaStream_t, int dtype) {
    visit_dtype(dtype, [=](auto tag) {
        using T = typename decltype(tag)::type;
        using Integer = std::conditional_t<std::is_same_v<T, Bool>, uint8_t,
                                           T>;
        if constexpr (std::is_integral_v<Integer>) {
            histogram_even(static_cast<const Integer *>(x), n,
                           static_cast<int64_t *>(y), lower, upper,
                           size_t(n_edges) - 1);
        } else {
            // cub.pyx refuses samples of other types.
            throw std::runtime_error("even histogram of non-integers");
        }
    });
}

size_t cub_device_histogram_range_get_workspace_size(
        void *, void *, int, void *, size_t, cudaStream_t, int) {
    return kNoWorkspace;
}

size_t cub_device_histogram_even_get_workspace_size(
        void *, void *, int, int, int, size_t, cudaStream_t, int) {
    return kNoWorkspace;
}
