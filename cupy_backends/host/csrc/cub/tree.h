/* Reduction of contiguous elements as a tree. */
#ifndef CUPY_HOST_CUB_TREE_H_
#define CUPY_HOST_CUB_TREE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../common/parallel.h"

namespace host {

/* Elements that one thread reduces at a time.  Fixed, so that the shape of
 * the tree, and with it the rounding, is the same for all thread counts. */
constexpr size_t kReduceChunk = size_t{1} << 16;

/* Not too many elements in strands, which the processor works on at the
 * same time.  n >= 1. */
template <typename Op>
typename Op::Partial reduce_strands(const typename Op::Value *x, size_t n) {
    constexpr size_t kStrands = 16;
    if (n < kStrands) {
        auto partial = Op::load(x[0]);
        for (size_t i = 1; i < n; ++i) {
            partial = Op::combine(partial, Op::load(x[i]));
        }
        return partial;
    }
    typename Op::Partial strands[kStrands];
    for (size_t j = 0; j < kStrands; ++j) strands[j] = Op::load(x[j]);
    size_t i = kStrands;
    for (; i + kStrands <= n; i += kStrands) {
        for (size_t j = 0; j < kStrands; ++j) {
            strands[j] = Op::combine(strands[j], Op::load(x[i + j]));
        }
    }
    for (size_t width = kStrands / 2; width > 0; width /= 2) {
        for (size_t j = 0; j < width; ++j) {
            strands[j] = Op::combine(strands[j], strands[j + width]);
        }
    }
    for (; i < n; ++i) {
        strands[0] = Op::combine(strands[0], Op::load(x[i]));
    }
    return strands[0];
}

template <typename T>
bool any_nan(const T *x, size_t n) {
    using Mask = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    Mask any = 0;
    for (size_t i = 0; i < n; ++i) any |= x[i] != x[i] ? ~Mask{0} : Mask{0};
    return any != 0;
}

template <typename Op, typename = void>
struct HasWithoutNaN : std::false_type {};
template <typename Op>
struct HasWithoutNaN<Op, std::void_t<typename Op::WithoutNaN>>
    : std::is_floating_point<typename Op::Value> {};

/* n >= 1. */
template <typename Op>
typename Op::Partial reduce_leaf(const typename Op::Value *x, size_t n) {
    if constexpr (HasWithoutNaN<Op>::value) {
        using Plain = typename Op::WithoutNaN;
        if (!any_nan(x, n)) return reduce_strands<Plain>(x, n);
    }
    return reduce_strands<Op>(x, n);
}

/* Pairwise: rounding errors grow with the logarithm of n.  n >= 1. */
template <typename Op>
typename Op::Partial reduce_pairwise(const typename Op::Value *x, size_t n) {
    if (n <= 512) return reduce_leaf<Op>(x, n);
    size_t half = n / 2 / 16 * 16;
    return Op::combine(reduce_pairwise<Op>(x, half),
                       reduce_pairwise<Op>(x + half, n - half));
}

template <typename Op>
typename Op::Partial combine_pairwise(const typename Op::Partial *partials,
                                      size_t n) {
    if (n == 1) return partials[0];
    return Op::combine(combine_pairwise<Op>(partials, n / 2),
                       combine_pairwise<Op>(partials + n / 2, n - n / 2));
}

/* The partial results of all chunks. */
template <typename Op>
std::vector<typename Op::Partial> reduce_chunks(
        const typename Op::Value *x, size_t n) {
    size_t chunks = (n + kReduceChunk - 1) / kReduceChunk;
    std::vector<typename Op::Partial> partials(chunks);
    parallel_for(chunks, 1, [&](uint64_t i, uint64_t end) {
        for (; i < end; ++i) {
            size_t first = i * kReduceChunk;
            size_t length = std::min(kReduceChunk, n - first);
            partials[i] = reduce_pairwise<Op>(x + first, length);
        }
    });
    return partials;
}

/* Many elements, by all threads. */
template <typename Op>
typename Op::Value reduce_all(const typename Op::Value *x, size_t n) {
    if (n == 0) return Op::empty();
    if (n <= kReduceChunk) return Op::store(reduce_pairwise<Op>(x, n));
    auto partials = reduce_chunks<Op>(x, n);
    return Op::store(combine_pairwise<Op>(partials.data(), partials.size()));
}

}  // namespace host

#endif
