/* Inclusive scans: cub_device_scan of cupy_cub.h. */

#include <algorithm>
#include <vector>

#include "../common/parallel.h"
#include "../cub/operations.h"

using namespace host;

namespace {

/* Fixed, so that rounding does not depend on the number of threads. */
constexpr size_t kScanChunk = size_t{1} << 15;

template <typename Op>
class Scan {
    using T = typename Op::Value;
    using Partial = typename Op::Partial;

public:
    /* x and y may be the same. */
    Scan(const T *x, T *y, size_t n)
        : x_(x), y_(y), n_(n), chunks_((n + kScanChunk - 1) / kScanChunk) {}

    void run() {
        if (chunks_ <= 1 || hd_get_num_threads() == 1) {
            run_serial();
            return;
        }
        std::vector<Partial> carries(chunks_);
        parallel_for(chunks_, 1, [&](uint64_t i, uint64_t end) {
            for (; i < end; ++i) carries[i] = total(i);
        });
        for (size_t i = 1; i < chunks_; ++i) {
            carries[i] = Op::combine(carries[i - 1], carries[i]);
        }
        parallel_for(chunks_, 1, [&](uint64_t i, uint64_t end) {
            for (; i < end; ++i) scan(i, i ? &carries[i - 1] : nullptr);
        });
    }

private:
    /* Reads each element once, with the results of the parallel way. */
    void run_serial() {
        Partial carry{};
        for (size_t i = 0; i < chunks_; ++i) {
            Partial local = scan(i, i ? &carry : nullptr);
            carry = i ? Op::combine(carry, local) : local;
        }
    }

    size_t end(size_t chunk) const {
        return std::min((chunk + 1) * kScanChunk, n_);
    }

    Partial total(size_t chunk) const {
        size_t i = chunk * kScanChunk;
        Partial local = Op::load(x_[i]);
        while (++i < end(chunk)) local = Op::combine(local, Op::load(x_[i]));
        return local;
    }

    /* Returns the chunk's own total.  `carry`: of all chunks before. */
    Partial scan(size_t chunk, const Partial *carry) const {
        size_t i = chunk * kScanChunk;
        Partial local = Op::load(x_[i]);
        for (;;) {
            Partial whole = carry ? Op::combine(*carry, local) : local;
            y_[i] = Op::store(whole);
            if (++i == end(chunk)) return local;
            local = Op::combine(local, Op::load(x_[i]));
        }
    }

    const T *x_;
    T *y_;
    size_t n_, chunks_;
};

template <typename T>
void scan(const void *x, void *y, size_t n, int op) {
    auto *from = static_cast<const T *>(x);
    auto *to = static_cast<T *>(y);
    switch (static_cast<CubOp>(op)) {
    case CubOp::kCumSum: return Scan<Sum<T>>(from, to, n).run();
    case CubOp::kCumProd: return Scan<Product<T>>(from, to, n).run();
    default: unknown_operation();
    }
}

}  // namespace

void cub_device_scan(void *, size_t &, void *x, void *y, int n, cudaStream_t,
                     int op, int dtype) {
    visit_dtype(dtype, [=](auto tag) {
        scan<typename decltype(tag)::type>(x, y, size_t(n), op);
    });
}

size_t cub_device_scan_get_workspace_size(void *, void *, int, cudaStream_t,
                                          int, int) {
    return kNoWorkspace;
}
