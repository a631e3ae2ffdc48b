/* Arrays of numbers that take the same count of words each. */
#ifndef CUPY_HOST_RANDOM_FILL_H_
#define CUPY_HOST_RANDOM_FILL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../common/parallel.h"
#include "../common/philox.h"
#include "../random/uniform.h"

namespace host {

/* out[i] = convert(words of item i) for i in [0, n), where item i has the
 * kWords words of the stream from position + i * kWords. */
template <unsigned kWords, typename T, typename Convert>
void fill(const WordStream &stream, uint64_t position, T *out, uint64_t n,
          const Convert &convert) {
    constexpr uint64_t kTile = 1024;  // words and results stay in the cache
    parallel_for(n, 16 * kTile, [&](uint64_t first, uint64_t end) {
        uint32_t words[kTile * kWords];
        for (uint64_t at = first; at < end; at += kTile) {
            uint64_t count = std::min(kTile, end - at);
            stream.read(position + at * kWords, count * kWords, words);
            for (uint64_t i = 0; i < count; ++i) {
                out[at + i] = convert(words + i * kWords);
            }
        }
    });
}

/* The same for pairs: convert(words of pair i) gives out[2 * i] and
 * out[2 * i + 1], the latter only where it is below n. */
template <unsigned kWords, typename T, typename Convert>
void fill_pairs(const WordStream &stream, uint64_t position, T *out,
                uint64_t n, const Convert &convert) {
    constexpr uint64_t kTile = 512;
    parallel_for((n + 1) / 2, 16 * kTile, [&](uint64_t first, uint64_t end) {
        uint32_t words[kTile * kWords];
        for (uint64_t at = first; at < end; at += kTile) {
            uint64_t count = std::min(kTile, end - at);
            stream.read(position + at * kWords, count * kWords, words);
            for (uint64_t i = 0; i < count; ++i) {
                auto pair = convert(words + i * kWords);
                uint64_t place = 2 * (at + i);
                out[place] = pair.first;
                if (place + 1 < n) out[place + 1] = pair.second;
            }
        }
    });
}

inline uint64_t word64(const uint32_t *words) {
    return join_words(words[0], words[1]);
}

}  // namespace host

#endif
