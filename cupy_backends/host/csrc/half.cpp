/* Half precision conversions that LLVM calls where the CPU has none.
 *
 * The C ABI of x86-64 passes a half in the low 16 bits of a vector register;
 * a float whose low bits are the half's passes the same way, with any
 * compiler.  Rounding is to nearest, ties to even (IEEE 754). */
#include <cstdint>
#include <cstring>

namespace {

template <typename To, typename From>
To bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "same size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

/* Shifts right by n, rounding to nearest even. */
uint64_t round_shift(uint64_t value, int n) {
    if (n > 63) return 0;
    uint64_t kept = value >> n;
    uint64_t rest = value & ((uint64_t{1} << n) - 1);
    uint64_t half = uint64_t{1} << (n - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

/* From a double's bits; every float is a double, so one function serves. */
uint16_t to_half(uint64_t x) {
    uint16_t sign = static_cast<uint16_t>(x >> 48 & 0x8000);
    int exponent = static_cast<int>(x >> 52 & 0x7ff);
    uint64_t fraction = x & ((uint64_t{1} << 52) - 1);
    if (exponent == 0x7ff) {
        uint64_t payload = fraction ? 0x200 | fraction >> 42 : 0;
        return static_cast<uint16_t>(sign | 0x7c00 | payload);
    }
    int e = exponent - 1023 + 15;  // exponent field of the half
    if (e >= 31) return sign | 0x7c00;
    uint64_t significand = fraction | uint64_t{1} << 52;
    if (exponent == 0 || e < -11) return sign;  // rounds to zero
    // A carry out of the fraction moves into the exponent, up to infinity.
    if (e <= 0) {
        return static_cast<uint16_t>(
            sign | round_shift(significand, 43 - e));
    }
    return static_cast<uint16_t>(
        sign + ((static_cast<uint64_t>(e) - 1) << 10) +
        round_shift(significand, 42));
}

float from_half(uint16_t h) {
    uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
    uint32_t exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;
    if (exponent == 0x1f) {
        uint32_t quiet = fraction ? 0x400000 : 0;
        return bits<float>(sign | 0x7f800000 | quiet | fraction << 13);
    }
    if (exponent == 0) {  // zero or subnormal: fraction * 2^-24, exactly
        float magnitude = static_cast<float>(fraction) * 0x1p-24f;
        return bits<float>(sign | bits<uint32_t>(magnitude));
    }
    return bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

float in_register(uint16_t h) { return bits<float>(uint32_t{h}); }

}  // namespace

extern "C" {

float __truncdfhf2(double x) {
    return in_register(to_half(bits<uint64_t>(x)));
}

float __truncsfhf2(float x) {
    return in_register(to_half(bits<uint64_t>(static_cast<double>(x))));
}

float __extendhfsf2(float h) {
    return from_half(static_cast<uint16_t>(bits<uint32_t>(h)));
}

}  // extern "C"
