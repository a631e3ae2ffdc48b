/* The random numbers of one element, as many as its algorithm asks for. */
#ifndef CUPY_HOST_RANDOM_DRAWS_H_
#define CUPY_HOST_RANDOM_DRAWS_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "../common/philox.h"
#include "../random/normal.h"
#include "../random/uniform.h"

namespace host {

/* A count as int64, whose largest value stands for all above. */
inline int64_t saturated(double count) {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    return count < 0x1p63 ? int64_t(count) : kMax;
}

/* Each element has a stream of its own: an algorithm that rejects takes
 * nothing from its neighbours. */
class Draws {
public:
    Draws(const WordStream &stream, uint64_t element)
        : stream_(stream), element_(element) {}

    uint32_t word() {
        if (used_ == 4) refill();
        return block_[used_++];
    }

    uint64_t word_pair() {
        uint32_t low = word();
        return join_words(low, word());
    }

    double uniform() { return half_open(word_pair()); }           // [0, 1)
    double positive_uniform() { return positive(word_pair()); }   // (0, 1]
    double exponential() { return -std::log(positive_uniform()); }

    double normal() {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        uint64_t a = word_pair();
        Pair<double> pair = normal_pair(a, word_pair());
        has_spare_ = true;
        spare_ = pair.second;
        return pair.first;
    }

private:
    void refill() {
        block_ = stream_.block(element_, inner_++);
        used_ = 0;
    }

    const WordStream &stream_;
    uint64_t element_;
    uint32_t inner_ = 0;
    unsigned used_ = 4;
    bool has_spare_ = false;
    double spare_ = 0;
    Block block_{};
};

}  // namespace host

#endif
