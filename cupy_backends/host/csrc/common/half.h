/* IEEE 754 binary16, as storage only: arithmetic happens in wider types. */
#ifndef CUPY_HOST_COMMON_HALF_H_
#define CUPY_HOST_COMMON_HALF_H_

#include <cmath>
#include <cstdint>
#include <cstring>

namespace host {

template <typename To, typename From>
inline To bit_cast(From from) {
    static_assert(sizeof(To) == sizeof(From), "sizes differ");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

struct Half {
    uint16_t bits;
};

inline float to_float(Half half) {
    uint32_t sign = uint32_t(half.bits & 0x8000u) << 16;
    uint32_t magnitude = half.bits & 0x7fffu;
    if (magnitude >= 0x7c00u) {  // infinity, NaN
        return bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
    }
    // Exact for subnormals too: the exponents differ by 127 - 15 = 112.
    float value = bit_cast<float>(magnitude << 13) * 0x1p112f;
    return bit_cast<float>(bit_cast<uint32_t>(value) | sign);
}

/* Rounds to the nearest, ties to even, straight from binary64: by way of
 * binary32 it would be rounded twice. */
inline Half to_half(double value) {
    uint16_t sign = std::signbit(value) ? 0x8000u : 0;
    if (std::isnan(value)) return Half{uint16_t(sign | 0x7e00u)};
    double magnitude = std::fabs(value);
    if (magnitude >= 65520.0) return Half{uint16_t(sign | 0x7c00u)};
    if (magnitude < 0x1p-14) {  // subnormal: a multiple of 2**-24
        return Half{uint16_t(sign | uint16_t(std::nearbyint(
            magnitude * 0x1p24)))};
    }
    uint64_t bits = bit_cast<uint64_t>(magnitude);
    bits += 0x1ffffffffffull + (bits >> 42 & 1);  // 52 - 10 = 42 bits go
    return Half{uint16_t(sign | uint16_t((bits >> 42) - (1008u << 10)))};
}

}  // namespace host

#endif
