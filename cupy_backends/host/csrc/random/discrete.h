/* Geometric and logarithmic-series numbers. */
#ifndef CUPY_HOST_RANDOM_DISCRETE_H_
#define CUPY_HOST_RANDOM_DISCRETE_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "../random/draws.h"

namespace host {

/* Trials until the first success, by inversion; p >= 1 always succeeds,
 * p <= 0 or NaN never. */
inline int64_t geometric_sample(Draws &draws, double p) {
    if (p >= 1) return 1;
    if (!(p > 0)) return std::numeric_limits<int64_t>::max();
    double trials = std::ceil(-draws.exponential() / std::log1p(-p));
    return saturated(std::fmax(trials, 1));
}

/* Algorithm LK of A. W. Kemp, "Efficient generation of logarithmically
 * distributed pseudo-random variables", 1981.  p <= 0 or NaN counts as the
 * limit 0, p >= 1 as the largest number below 1. */
inline int64_t logseries_sample(Draws &draws, double p) {
    if (!(p > 0)) return 1;
    if (p >= 1) p = std::nextafter(1.0, 0.0);
    double v = draws.positive_uniform();
    if (v >= p) return 1;
    double q = -std::expm1(std::log1p(-p) * draws.positive_uniform());
    if (v > q) return 1;
    if (v > q * q) return 2;
    return saturated(std::floor(1 + std::log(v) / std::log(q)));
}

}  // namespace host

#endif
