/* Pairs of normal numbers: G. E. P. Box, M. E. Muller, "A note on the
 * generation of random normal deviates", 1958. */
#ifndef CUPY_HOST_RANDOM_NORMAL_H_
#define CUPY_HOST_RANDOM_NORMAL_H_

#include <cmath>
#include <cstdint>

#include "../random/uniform.h"

namespace host {

template <typename T>
struct Pair {
    T first, second;
};

inline Pair<double> normal_pair(uint64_t a, uint64_t b) {
    constexpr double kTwoPi = 6.283185307179586476925;
    double radius = std::sqrt(-2.0 * std::log(positive(a)));
    double angle = kTwoPi * half_open(b);
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

inline Pair<float> normal_pair(uint32_t a, uint32_t b) {
    constexpr float kTwoPi = 6.2831853f;
    // All 32 bits: with 24 the tails would end at 5.8 standard deviations.
    float u = (float(a) + 0.5f) * 0x1p-32f;
    float radius = std::sqrt(-2.0f * std::log(u));
    float angle = kTwoPi * half_open(b);
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

/* Of the words that fill_pairs hands out. */
template <typename T>
Pair<T> normal_pair(const uint32_t *words);

template <>
inline Pair<double> normal_pair<double>(const uint32_t *words) {
    return normal_pair(join_words(words[0], words[1]),
                       join_words(words[2], words[3]));
}

template <>
inline Pair<float> normal_pair<float>(const uint32_t *words) {
    return normal_pair(words[0], words[1]);
}

/* Words that a pair takes. */
template <typename T>
constexpr unsigned kPairWords = 2 * sizeof(T) / sizeof(uint32_t);

}  // namespace host

#endif
