/* Sums and products: the type that they are computed in. */
#ifndef CUPY_HOST_CUB_ARITHMETIC_H_
#define CUPY_HOST_CUB_ARITHMETIC_H_

#include <cstdint>
#include <type_traits>

#include "../common/dtypes.h"

namespace host {

/* All integers modulo 2**64, of which the element's own modulus is a
 * divisor; floating-point numbers in binary64. */
template <typename T, typename = void>
struct Wide;

template <typename T>
struct Wide<T, std::enable_if_t<std::is_integral_v<T>>> {
    using type = uint64_t;
    static type from(T value) { return uint64_t(int64_t(value)); }
    static T to(type wide) { return T(wide); }
};

template <typename T>
struct Wide<T, std::enable_if_t<std::is_floating_point_v<T>>> {
    using type = double;
    static type from(T value) { return value; }
    static T to(type wide) { return T(wide); }
};

template <>
struct Wide<Half> {
    using type = double;
    static type from(Half value) { return to_float(value); }
    static Half to(type wide) { return to_half(wide); }
};

template <>
struct Wide<Bool> {
    using type = uint64_t;
    static type from(Bool value) { return value.byte != 0; }
    static Bool to(type wide) { return Bool{wide != 0}; }
};

template <typename T>
struct Wide<Complex<T>> {
    using type = Complex<double>;
    static type from(Complex<T> value) { return {value.re, value.im}; }
    static Complex<T> to(type wide) { return {T(wide.re), T(wide.im)}; }
};

inline Complex<double> operator+(Complex<double> a, Complex<double> b) {
    return {a.re + b.re, a.im + b.im};
}

template <typename T>
Complex<T> operator*(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* What reductions and scans are made of: `load` an element, `combine` two
 * partial results (in whatever order), `store` the last one. */
template <typename T>
struct Sum {
    using Value = T;
    using Partial = typename Wide<T>::type;
    static Partial load(T value) { return Wide<T>::from(value); }
    static Partial combine(Partial a, Partial b) { return a + b; }
    static T store(Partial partial) { return Wide<T>::to(partial); }
    static T empty() { return store(Partial{}); }
};

template <typename T>
struct Product : Sum<T> {
    using Partial = typename Wide<T>::type;
    static Partial combine(Partial a, Partial b) { return a * b; }
    static T empty() { return Wide<T>::to(Partial{1}); }
};

/* In the elements' own type: once a part overflows, the next factor makes
 * both NaN, as in NumPy and on a GPU.  A wider type would give infinities. */
template <typename T>
struct Product<Complex<T>> {
    using Value = Complex<T>;
    using Partial = Complex<T>;
    static Partial load(Value value) { return value; }
    static Partial combine(Partial a, Partial b) { return a * b; }
    static Value store(Partial partial) { return partial; }
    static Value empty() { return {1, 0}; }
};

}  // namespace host

#endif
