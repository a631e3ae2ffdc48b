/* Transformed rejection with squeeze, for unimodal discrete distributions:
 * W. Hoermann, "The transformed rejection method for generating Poisson
 * random variables", 1993, and "The generation of binomial random
 * variates", 1993. */
#ifndef CUPY_HOST_RANDOM_REJECTION_H_
#define CUPY_HOST_RANDOM_REJECTION_H_

#include <cmath>
#include <cstdint>

#include "../random/draws.h"

namespace host {

/* log(k!); not std::lgamma, which writes to a global variable. */
inline double log_factorial(double k) {
    int sign;
    return ::lgamma_r(k + 1, &sign);
}

/* Inversion by search ends here at the latest: 53 random bits do not tell
 * such probabilities from the rounding of their sum. */
constexpr double kNegligible = 0x1p-60;

/* The papers' letters: a and b shape the dominating curve, v_r is the
 * height of the part that is accepted at once, scale is alpha of the
 * binomial and 1/alpha of the Poisson case. */
struct TransformedRejection {
    double a, b, center, v_r, scale, largest;

    /* `log_weight(k)`: logarithm of the (scaled) probability of k. */
    template <typename LogWeight>
    double sample(Draws &draws, const LogWeight &log_weight) const {
        for (;;) {
            double u = draws.uniform() - 0.5;
            double v = draws.positive_uniform();
            double us = 0.5 - std::fabs(u);
            double k = std::floor((2 * a / us + b) * u + center);
            if (us >= 0.07 && v <= v_r) return k;
            if (!(k >= 0 && k <= largest)) continue;
            if (us < 0.013 && v > us) continue;
            double height = std::log(v * scale / (a / (us * us) + b));
            if (height <= log_weight(k)) return k;
        }
    }
};

}  // namespace host

#endif
