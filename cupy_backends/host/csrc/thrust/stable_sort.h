/* Stable sorting of items by a key, without allocation. */
#ifndef CUPY_HOST_THRUST_STABLE_SORT_H_
#define CUPY_HOST_THRUST_STABLE_SORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace host {

/* Below, the counting of digits takes longer than merging. */
constexpr size_t kRadixMinimum = 600;

/* Each of these gets `items` and as much `scratch`; the result is in
 * `items`.  key_of(item) is what items are compared by. */
template <typename Item, typename KeyOf>
void insertion_sort(Item *items, size_t n, const KeyOf &key_of) {
    for (size_t i = 1; i < n; ++i) {
        Item item = items[i];
        auto key = key_of(item);
        size_t j = i;
        for (; j > 0 && key < key_of(items[j - 1]); --j) {
            items[j] = items[j - 1];
        }
        items[j] = item;
    }
}

template <typename Item, typename KeyOf>
void merge_sort(Item *items, Item *scratch, size_t n, const KeyOf &key_of) {
    constexpr size_t kRun = 16;
    auto less = [&](const Item &a, const Item &b) {
        return key_of(a) < key_of(b);
    };
    for (size_t i = 0; i < n; i += kRun) {
        insertion_sort(items + i, std::min(kRun, n - i), key_of);
    }
    Item *from = items, *to = scratch;
    for (size_t width = kRun; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t middle = std::min(i + width, n);
            size_t end = std::min(i + 2 * width, n);
            std::merge(from + i, from + middle, from + middle, from + end,
                       to + i, less);
        }
        std::swap(from, to);
    }
    if (from != items) std::copy(from, from + n, items);
}

/* Least significant digit first, a byte at a time.  Keys are unsigned
 * numbers; digits that all keys share are skipped. */
template <typename Item, typename KeyOf>
void radix_sort(Item *items, Item *scratch, size_t n, const KeyOf &key_of) {
    constexpr unsigned kDigits = sizeof(key_of(*items));
    std::array<std::array<size_t, 256>, kDigits> counts{};
    for (size_t i = 0; i < n; ++i) {
        auto key = key_of(items[i]);
        for (unsigned d = 0; d < kDigits; ++d) {
            ++counts[d][uint8_t(key >> 8 * d)];
        }
    }
    Item *from = items, *to = scratch;
    for (unsigned d = 0; d < kDigits; ++d) {
        auto &places = counts[d];
        if (places[uint8_t(key_of(from[0]) >> 8 * d)] == n) continue;
        size_t place = 0;
        for (size_t &count : places) place += std::exchange(count, place);
        for (size_t i = 0; i < n; ++i) {
            to[places[uint8_t(key_of(from[i]) >> 8 * d)]++] = from[i];
        }
        std::swap(from, to);
    }
    if (from != items) std::copy(from, from + n, items);
}

template <bool kWordKeys, typename Item, typename KeyOf>
void sort_serial(Item *items, Item *scratch, size_t n, const KeyOf &key_of) {
    if constexpr (kWordKeys) {
        if (n >= kRadixMinimum) {
            radix_sort(items, scratch, n, key_of);
            return;
        }
    }
    merge_sort(items, scratch, n, key_of);
}

}  // namespace host

#endif
