/* Uniform numbers from words. */
#ifndef CUPY_HOST_RANDOM_UNIFORM_H_
#define CUPY_HOST_RANDOM_UNIFORM_H_

#include <cstdint>

namespace host {

inline uint64_t join_words(uint32_t low, uint32_t high) {
    return uint64_t{high} << 32 | low;
}

/* [0, 1): 24 or 53 random bits, each value exact. */
inline float half_open(uint32_t word) { return float(word >> 8) * 0x1p-24f; }
inline double half_open(uint64_t word) {
    return double(word >> 11) * 0x1p-53;
}

/* (0, 1]: the interval of cuRAND, fit for logarithms. */
inline float positive(uint32_t word) {
    return float((word >> 8) + 1) * 0x1p-24f;
}
inline double positive(uint64_t word) {
    return double((word >> 11) + 1) * 0x1p-53;
}

}  // namespace host

#endif
