/* NumPy's order of elements: NaN last, -0 equal to +0, complex numbers by
 * where they have NaNs, then by their real parts, then by their imaginary
 * parts. */
#ifndef CUPY_HOST_THRUST_ORDER_H_
#define CUPY_HOST_THRUST_ORDER_H_

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "../common/dtypes.h"

namespace host {

template <size_t kSize>
struct UnsignedOfSize;
template <>
struct UnsignedOfSize<1> { using type = uint8_t; };
template <>
struct UnsignedOfSize<2> { using type = uint16_t; };
template <>
struct UnsignedOfSize<4> { using type = uint32_t; };
template <>
struct UnsignedOfSize<8> { using type = uint64_t; };

/* The bits of a floating-point number as an unsigned number of the same
 * order. */
template <typename Bits>
Bits order_of_float_bits(Bits bits, Bits infinity) {
    constexpr Bits kSign = Bits(Bits{1} << (8 * sizeof(Bits) - 1));
    Bits magnitude = bits & Bits(~kSign);
    if (magnitude > infinity) return Bits(~Bits{0});  // NaN
    if (magnitude == 0) return kSign;
    return bits & kSign ? Bits(~bits) : Bits(bits | kSign);
}

/* An unsigned number: a < b if and only if order_of(a) < order_of(b). */
template <typename T>
auto order_of(T value) {
    using Bits = typename UnsignedOfSize<sizeof(T)>::type;
    if constexpr (std::is_same_v<T, float>) {
        return order_of_float_bits<Bits>(bit_cast<Bits>(value), 0x7f800000u);
    } else if constexpr (std::is_same_v<T, double>) {
        return order_of_float_bits<Bits>(bit_cast<Bits>(value),
                                         0x7ff0000000000000u);
    } else if constexpr (std::is_same_v<T, Half>) {
        return order_of_float_bits<Bits>(value.bits, 0x7c00u);
    } else if constexpr (std::is_same_v<T, Bool>) {
        return Bits(value.byte != 0);
    } else {
        constexpr Bits kSign = Bits(Bits{1} << (8 * sizeof(T) - 1));
        return Bits(std::is_signed_v<T> ? Bits(value) ^ kSign : Bits(value));
    }
}

/* Complex numbers have no number of their order that fits a word: theirs
 * is a tuple, NaNs first.  A NaN's own order is constant. */
template <typename T>
auto order_of(Complex<T> value) {
    int nans = 2 * (value.re != value.re) + (value.im != value.im);
    return std::make_tuple(nans, order_of(value.re), order_of(value.im));
}

template <typename T>
constexpr bool kHasWordOrder = !IsComplex<T>::value;

}  // namespace host

#endif
