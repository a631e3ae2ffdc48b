/* A generator of the cuRAND host API. */
#ifndef CUPY_HOST_CURAND_GENERATOR_H_
#define CUPY_HOST_CURAND_GENERATOR_H_

#include <cstdint>

#include "../common/philox.h"
#include "../curand/curand_abi.h"

namespace host {

/* The numbers are not those of cuRAND: all kinds draw from Philox4x32-10,
 * each kind from sequences of its own. */
class CurandGenerator {
public:
    explicit CurandGenerator(int kind) : kind_(uint32_t(kind)) {}

    void seed(uint64_t value) {
        seed_ = value;
        position_ = offset_;
    }

    /* In 32-bit words; a 64-bit number takes two. */
    void set_offset(uint64_t words) { offset_ = position_ = words; }

    /* Reserves `words` words of the stream, or elements' streams. */
    uint64_t advance(uint64_t words) {
        uint64_t start = position_;
        position_ += words;
        return start;
    }

    WordStream words() const { return {seed_, 2 * kind_}; }
    WordStream elements() const { return {seed_, 2 * kind_ + 1}; }

private:
    uint64_t seed_ = 0, position_ = 0, offset_ = 0;
    uint32_t kind_;
};

/* Whether the handle is of a generator that was not destroyed. */
bool usable(const CurandGenerator *handle);

}  // namespace host

#endif
