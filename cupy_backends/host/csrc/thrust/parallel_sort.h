/* Stable sorting by all threads. */
#ifndef CUPY_HOST_THRUST_PARALLEL_SORT_H_
#define CUPY_HOST_THRUST_PARALLEL_SORT_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../common/parallel.h"
#include "../thrust/stable_sort.h"

namespace host {

/* One long row: runs, as many as threads, are sorted and then merged. */
template <typename Item, typename KeyOf>
class ParallelMerge {
public:
    ParallelMerge(size_t n, size_t runs, const KeyOf &key_of)
        : key_of_(key_of), pieces_(runs) {
        for (size_t i = 0; i <= runs; ++i) bounds_.push_back(n * i / runs);
    }

    template <bool kWordKeys>
    void run(Item *items, Item *scratch) {
        parallel_for(pieces_, 1, [&](uint64_t i, uint64_t end) {
            for (; i < end; ++i) {
                sort_serial<kWordKeys>(
                    items + bounds_[i], scratch + bounds_[i],
                    bounds_[i + 1] - bounds_[i], key_of_);
            }
        });
        Item *from = items, *to = scratch;
        for (; bounds_.size() > 2; std::swap(from, to)) merge(from, to);
        if (from != items) std::copy(from, from + bounds_[1], items);
    }

private:
    /* Merges each two neighbouring runs. */
    void merge(const Item *from, Item *to) {
        size_t last = bounds_.size() - 1;
        std::vector<size_t> merged{0};
        for (size_t i = 0; i < last; i += 2) {
            size_t middle = bounds_[i + 1];
            size_t end = bounds_[std::min(i + 2, last)];
            merge_two(from, to, bounds_[i], middle, end);
            merged.push_back(end);
        }
        bounds_ = merged;
    }

    /* In pieces that do not depend on each other: the first run is cut
     * evenly, the second where those items would go.  Equal items of the
     * first run go in front, so the second is cut before its equals. */
    void merge_two(const Item *from, Item *to, size_t begin, size_t middle,
                   size_t end) {
        auto less = [this](const Item &a, const Item &b) {
            return key_of_(a) < key_of_(b);
        };
        auto cut_first = [&](size_t piece) {
            return begin + (middle - begin) * piece / pieces_;
        };
        auto cut_second = [&](size_t piece) {
            if (piece == 0) return middle;
            if (piece == pieces_) return end;
            return size_t(std::lower_bound(from + middle, from + end,
                                           from[cut_first(piece)], less)
                          - from);
        };
        parallel_for(pieces_, 1, [&](uint64_t i, uint64_t last) {
            for (; i < last; ++i) {
                size_t a = cut_first(i), b = cut_second(i);
                std::merge(from + a, from + cut_first(i + 1), from + b,
                           from + cut_second(i + 1), to + a + b - middle,
                           less);
            }
        });
    }

    const KeyOf &key_of_;
    size_t pieces_;
    std::vector<size_t> bounds_;  // of the sorted runs
};

/* Sorts each of `rows` rows of `length` items.  kWordKeys: key_of gives
 * unsigned numbers. */
template <bool kWordKeys, typename Item, typename KeyOf>
void sort_rows(Item *items, Item *scratch, size_t rows, size_t length,
               const KeyOf &key_of) {
    constexpr size_t kRun = 1 << 14;  // items worth a thread's attention
    size_t runs = std::min<size_t>(hd_get_num_threads(), length / kRun);
    if (rows < hd_get_num_threads() && runs > 1) {
        for (size_t i = 0; i < rows; ++i) {
            ParallelMerge<Item, KeyOf>(length, runs, key_of)
                .template run<kWordKeys>(items + i * length,
                                         scratch + i * length);
        }
        return;
    }
    size_t together = std::max<size_t>(1, kRun / std::max<size_t>(1, length));
    parallel_for(rows, together, [&](uint64_t i, uint64_t end) {
        for (; i < end; ++i) {
            sort_serial<kWordKeys>(items + i * length, scratch + i * length,
                                   length, key_of);
        }
    });
}

}  // namespace host

#endif
