/* Small operations on the 32 lanes of a warp, as bit masks. */
#ifndef CUPY_HOST_LANES_H_
#define CUPY_HOST_LANES_H_

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace host {

using Lanes = uint32_t;  // bit i: lane i

constexpr Lanes kAllLanes = 0xFFFFFFFFu;

inline uint32_t count(Lanes lanes) {
    return static_cast<uint32_t>(__builtin_popcount(lanes));
}
inline uint32_t lowest(Lanes lanes) {
    return static_cast<uint32_t>(__builtin_ctz(lanes));
}

/* Calls f(lane) for each lane of the mask, lowest first. */
template <typename F>
inline void for_each_lane(Lanes lanes, F f) {
    for (; lanes; lanes &= lanes - 1) f(lowest(lanes));
}

/* The lanes whose word equals `value`. */
inline Lanes equal_lanes(const uint32_t *words, uint32_t value) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(value));
    Lanes result = 0;
    for (int i = 0; i < 2; ++i) {  // 16 lanes: narrow 4 x 4 words to bytes
        __m128i e[4];
        for (int j = 0; j < 4; ++j) {
            e[j] = _mm_cmpeq_epi32(
                _mm_loadu_si128(reinterpret_cast<const __m128i *>(
                    words + 16 * i + 4 * j)), wanted);
        }
        __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(e[0], e[1]),
                                        _mm_packs_epi32(e[2], e[3]));
        result |= static_cast<Lanes>(_mm_movemask_epi8(bytes)) << (16 * i);
    }
    return result;
#else
    Lanes result = 0;
    for (uint32_t i = 0; i < 32; ++i) {
        result |= static_cast<Lanes>(words[i] == value) << i;
    }
    return result;
#endif
}

/* The lanes whose predicate byte is not zero. */
inline Lanes load_predicates(const uint8_t *bytes) {
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    Lanes low = static_cast<Lanes>(_mm_movemask_epi8(_mm_cmpeq_epi8(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes)), zero)));
    Lanes high = static_cast<Lanes>(_mm_movemask_epi8(_mm_cmpeq_epi8(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes + 16)),
        zero)));
    return ~(low | high << 16);
#else
    Lanes result = 0;
    for (uint32_t i = 0; i < 32; ++i) {
        result |= static_cast<Lanes>(bytes[i] != 0) << i;
    }
    return result;
#endif
}

/* The low 8 bits of `bits` as eight bytes of 0 or 1. */
inline uint64_t spread_bits(uint32_t bits) {
    // Byte k keeps bit k; adding 127 carries it into bit 7 of its byte.
    uint64_t kept = ((bits & 0xff) * 0x0101010101010101u) &
                    0x8040201008040201u;
    return ((kept + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
}

/* Stores bit i of `values` as byte i, for the lanes of `which`. */
inline void store_predicates(uint8_t *bytes, Lanes values, Lanes which) {
    if (which == kAllLanes) {
        for (int i = 0; i < 4; ++i) {
            uint64_t eight = spread_bits(values >> (8 * i));
            std::memcpy(bytes + 8 * i, &eight, sizeof eight);
        }
        return;
    }
    for_each_lane(which, [&](uint32_t i) { bytes[i] = (values >> i) & 1; });
}

inline void store_words(uint32_t *out, const uint32_t *values, Lanes which) {
    if (which == kAllLanes) {
        std::memcpy(out, values, 32 * sizeof(uint32_t));
        return;
    }
    for_each_lane(which, [&](uint32_t i) { out[i] = values[i]; });
}

}  // namespace host

#endif
