/* thrust_sort, thrust_argsort and thrust_lexsort of cupy_thrust.h: always
 * stable, along the last axis.  std::bad_alloc becomes a MemoryError in
 * thrust.pyx, so scratch memory is ours, not the device's. */

#include <memory>
#include <vector>

#include "../common/dtypes.h"
#include "../thrust/order.h"
#include "../thrust/parallel_sort.h"

using namespace host;

namespace {

/* Left uninitialised, unlike a vector. */
template <typename Item>
std::unique_ptr<Item[]> allocate(size_t n) {
    return std::unique_ptr<Item[]>(new Item[n]);
}

struct Rows {
    size_t count = 1, length = 1;

    explicit Rows(const std::vector<ptrdiff_t> &shape) {
        if (shape.empty()) return;
        length = size_t(shape.back());
        for (size_t i = 0; i + 1 < shape.size(); ++i) {
            count *= size_t(shape[i]);
        }
    }
    size_t size() const { return count * length; }
};

/* An element's place and what it is ordered by. */
template <typename T>
struct Entry {
    decltype(order_of(T{})) key;
    size_t index;
};

template <typename T>
auto key_of_entry = [](const Entry<T> &entry) -> const auto & {
    return entry.key;
};

template <typename T>
void sort(T *data, const Rows &rows) {
    auto scratch = allocate<T>(rows.size());
    sort_rows<kHasWordOrder<T>>(data, scratch.get(), rows.count, rows.length,
                                [](T value) { return order_of(value); });
}

/* index[i]: place in its row of the element that is sorted to i. */
template <typename T>
void argsort(size_t *index, const T *data, const Rows &rows) {
    auto entries = allocate<Entry<T>>(rows.size());
    auto scratch = allocate<Entry<T>>(rows.size());
    constexpr size_t kChunk = 1 << 15;
    parallel_for(rows.size(), kChunk, [&](uint64_t i, uint64_t end) {
        for (size_t j = i % rows.length; i < end; ++i, ++j) {
            if (j == rows.length) j = 0;
            entries[i] = {order_of(data[i]), j};
        }
    });
    sort_rows<kHasWordOrder<T>>(entries.get(), scratch.get(), rows.count,
                                rows.length, key_of_entry<T>);
    parallel_for(rows.size(), kChunk, [&](uint64_t i, uint64_t end) {
        for (; i < end; ++i) index[i] = entries[i].index;
    });
}

/* One key after the other, the last one counts most. */
template <typename T>
void lexsort(size_t *index, const T *keys, size_t k, size_t n) {
    auto entries = allocate<Entry<T>>(n);
    auto scratch = allocate<Entry<T>>(n);
    for (size_t i = 0; i < n; ++i) index[i] = i;
    for (const T *key = keys; key < keys + k * n; key += n) {
        for (size_t i = 0; i < n; ++i) {
            entries[i] = {order_of(key[index[i]]), index[i]};
        }
        sort_rows<kHasWordOrder<T>>(entries.get(), scratch.get(), 1, n,
                                    key_of_entry<T>);
        for (size_t i = 0; i < n; ++i) index[i] = entries[i].index;
    }
}

}  // namespace

void thrust_sort(int dtype, void *data, size_t *,
                 const std::vector<ptrdiff_t> &shape, intptr_t, void *) {
    visit_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        sort(static_cast<T *>(data), Rows(shape));
    });
}

void thrust_argsort(int dtype, size_t *index, void *data, void *,
                    const std::vector<ptrdiff_t> &shape, intptr_t, void *) {
    visit_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        argsort(index, static_cast<const T *>(data), Rows(shape));
    });
}

void thrust_lexsort(int dtype, size_t *index, void *keys, size_t k, size_t n,
                    intptr_t, void *) {
    visit_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        lexsort(index, static_cast<const T *>(keys), k, n);
    });
}
