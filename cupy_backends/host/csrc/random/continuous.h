/* Gamma and beta numbers. */
#ifndef CUPY_HOST_RANDOM_CONTINUOUS_H_
#define CUPY_HOST_RANDOM_CONTINUOUS_H_

#include <cmath>
#include <limits>

#include "../random/draws.h"

namespace host {

/* For shape >= 1: G. Marsaglia, W. W. Tsang, "A simple method for
 * generating gamma variables", 2000. */
inline double large_gamma(Draws &draws, double shape) {
    double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
        double x = draws.normal(), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        double u = draws.positive_uniform();
        if (u < 1 - 0.0331 * (x * x) * (x * x)) return d * v;
        if (std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
            return d * v;
        }
    }
}

/* The logarithm, as small shapes give numbers below the smallest double.
 * gamma(a) is gamma(a + 1) * uniform ** (1 / a) (same paper). */
inline double log_gamma_sample(Draws &draws, double shape) {
    if (shape >= 1) return std::log(large_gamma(draws, shape));
    double grown = std::log(large_gamma(draws, shape + 1));
    return grown - draws.exponential() / shape;
}

/* NaN for a shape that is negative or NaN. */
inline double gamma_sample(Draws &draws, double shape) {
    if (shape == 0) return 0;
    if (!(shape > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (std::isinf(shape)) return shape;
    if (shape >= 1) return large_gamma(draws, shape);
    return std::exp(log_gamma_sample(draws, shape));
}

/* NaN unless both parameters are positive and finite. */
inline double beta_sample(Draws &draws, double a, double b) {
    if (!(a > 0 && b > 0) || std::isinf(a) || std::isinf(b)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    double x = log_gamma_sample(draws, a);
    double y = log_gamma_sample(draws, b);
    // So small that even the logarithms overflow: nearly always 0 or 1.
    if (std::isinf(x) && std::isinf(y)) return draws.uniform() < a / (a + b);
    return 1 / (1 + std::exp(y - x));  // gamma(a) / (gamma(a) + gamma(b))
}

}  // namespace host

#endif
