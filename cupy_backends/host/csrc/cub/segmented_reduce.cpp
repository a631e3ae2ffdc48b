/* Reductions of rows of equal length: cub_device_segmented_reduce. */

#include "../cub/operations.h"
#include "../cub/tree.h"

using namespace host;

namespace {

/* One row by one thread, with the tree that reduce_all has. */
template <typename Op>
typename Op::Value reduce_row(const typename Op::Value *x, size_t n) {
    auto chunk = [x, n](size_t i) {
        size_t first = i * kReduceChunk;
        return reduce_pairwise<Op>(x + first,
                                   std::min(kReduceChunk, n - first));
    };
    auto combine = [&](auto &self, size_t first, size_t count) ->
            typename Op::Partial {
        if (count == 1) return chunk(first);
        return Op::combine(self(self, first, count / 2),
                           self(self, first + count / 2, count - count / 2));
    };
    return Op::store(combine(combine, 0,
                             (n + kReduceChunk - 1) / kReduceChunk));
}

template <typename Op>
void reduce_rows(const typename Op::Value *x, typename Op::Value *y,
                 size_t rows, size_t length) {
    if (length == 0) {
        std::fill(y, y + rows, Op::empty());
        return;
    }
    if (length > kReduceChunk && rows < 4 * hd_get_num_threads()) {
        // Too few rows to occupy the threads evenly.
        for (size_t i = 0; i < rows; ++i) {
            y[i] = reduce_all<Op>(x + i * length, length);
        }
        return;
    }
    size_t together = std::max<size_t>(1, kReduceChunk / 4 / length);
    parallel_for(rows, together, [=](uint64_t i, uint64_t end) {
        for (; i < end; ++i) y[i] = reduce_row<Op>(x + i * length, length);
    });
}

}  // namespace

void cub_device_segmented_reduce(
        void *, size_t &, void *x, void *y, int num_segments,
        int segment_size, cudaStream_t, int op, int dtype) {
    visit_dtype(dtype, [=](auto tag) {
        using T = typename decltype(tag)::type;
        visit_reduction<T>(op, [=](auto op_tag) {
            using Op = typename decltype(op_tag)::type;
            reduce_rows<Op>(static_cast<const T *>(x), static_cast<T *>(y),
                            size_t(num_segments), size_t(segment_size));
        });
    });
}

size_t cub_device_segmented_reduce_get_workspace_size(
        void *, void *, int, int, cudaStream_t, int, int) {
    return kNoWorkspace;
}
