/* Reductions of a whole array: cub_device_reduce of cupy_cub.h. */

#include <algorithm>
#include <cstring>

#include "../cub/operations.h"
#include "../cub/tree.h"

using namespace host;

namespace {

/* Where cub::KeyValuePair<int, T> has its value.  thrust::complex is
 * aligned to its size. */
template <typename T>
constexpr size_t value_offset() {
    size_t alignment = IsComplex<T>::value ? sizeof(T) : alignof(T);
    return std::max(sizeof(int32_t), alignment);
}

template <typename Partial>
bool same(Partial a, Partial b) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b);
    return not_above(a, b) && not_above(b, a);
}

/* Index of the first element that equals the extremum, a NaN if any. */
template <typename Op>
size_t find_extremum(const typename Op::Value *x, size_t n) {
    auto partials = reduce_chunks<Op>(x, n);
    auto extremum = combine_pairwise<Op>(partials.data(), partials.size());
    size_t chunk = 0;
    while (!same(partials[chunk], extremum)) ++chunk;
    size_t index = chunk * kReduceChunk;
    while (!same(Op::load(x[index]), extremum)) ++index;
    return index;
}

/* Writes a cub::KeyValuePair<int, T>: index and value. */
template <typename Op>
void reduce_to_index(const void *x, void *y, size_t n) {
    using T = typename Op::Value;
    auto *elements = static_cast<const T *>(x);
    size_t index = find_extremum<Op>(elements, n);
    auto key = int32_t(index);
    std::memcpy(y, &key, sizeof key);
    std::memcpy(static_cast<char *>(y) + value_offset<T>(),
                elements + index, sizeof(T));
}

template <typename T>
void reduce(const void *x, void *y, size_t n, int op) {
    switch (static_cast<CubOp>(op)) {
    case CubOp::kArgMin: return reduce_to_index<Minimum<T>>(x, y, n);
    case CubOp::kArgMax: return reduce_to_index<Maximum<T>>(x, y, n);
    default: break;
    }
    visit_reduction<T>(op, [=](auto tag) {
        using Op = typename decltype(tag)::type;
        *static_cast<T *>(y) = reduce_all<Op>(static_cast<const T *>(x), n);
    });
}

}  // namespace

void cub_device_reduce(void *, size_t &, void *x, void *y, int n,
                       cudaStream_t, int op, int dtype) {
    visit_dtype(dtype, [=](auto tag) {
        reduce<typename decltype(tag)::type>(x, y, size_t(n), op);
    });
}

size_t cub_device_reduce_get_workspace_size(void *, void *, int,
                                            cudaStream_t, int, int) {
    return kNoWorkspace;
}
