/* Minimum and maximum as NumPy defines them: NaN goes before all, complex
 * numbers compare by their real parts, then by their imaginary parts. */
#ifndef CUPY_HOST_CUB_EXTREMUM_H_
#define CUPY_HOST_CUB_EXTREMUM_H_

#include <cstdint>

#include "../common/dtypes.h"

namespace host {

/* The type that elements are compared in. */
template <typename T>
struct Comparable {
    using type = T;
    static T from(T value) { return value; }
    static T to(T value) { return value; }
};

template <>
struct Comparable<Half> {
    using type = float;
    static float from(Half value) { return to_float(value); }
    static Half to(float value) { return to_half(value); }
};

template <>
struct Comparable<Bool> {
    using type = uint8_t;
    static uint8_t from(Bool value) { return value.byte != 0; }
    static Bool to(uint8_t value) { return Bool{value}; }
};

template <typename T>
bool is_nan(T value) { return value != value; }
template <typename T>
bool is_nan(Complex<T> value) { return is_nan(value.re) || is_nan(value.im); }

template <typename T>
bool not_above(T a, T b) { return a <= b; }
template <typename T>
bool not_above(Complex<T> a, Complex<T> b) {
    return a.re < b.re || (a.re == b.re && a.im <= b.im);
}

/* Among numbers without NaN, in a form that compilers turn into one
 * instruction for several of them. */
template <typename T, bool kLargest>
struct OrderedExtremum {
    using Value = T;
    using Partial = T;
    static T load(T value) { return value; }
    static T combine(T a, T b) {
        return kLargest ? (b > a ? b : a) : (b < a ? b : a);
    }
};

/* The left one wins a draw. */
template <typename T, bool kLargest>
struct Extremum {
    using Value = T;
    using Partial = typename Comparable<T>::type;
    using WithoutNaN = OrderedExtremum<T, kLargest>;

    static Partial load(T value) { return Comparable<T>::from(value); }
    static T store(Partial partial) { return Comparable<T>::to(partial); }

    static Partial combine(Partial a, Partial b) {
        if constexpr (IsComplex<T>::value) {
            if (is_nan(b)) return is_nan(a) ? a : b;
        }  // with one component, a NaN in b makes the comparison false
        bool first = kLargest ? not_above(b, a) : not_above(a, b);
        return first || is_nan(a) ? a : b;
    }

    /* CuPy refuses to reduce nothing: there is no such element. */
    static T empty() { return T{}; }
};

template <typename T>
using Minimum = Extremum<T, false>;
template <typename T>
using Maximum = Extremum<T, true>;

}  // namespace host

#endif
