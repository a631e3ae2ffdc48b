/* Binomial numbers. */
#ifndef CUPY_HOST_RANDOM_BINOMIAL_H_
#define CUPY_HOST_RANDOM_BINOMIAL_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../random/rejection.h"

namespace host {

/* Number of trials and probability, and what follows from them. */
class Binomial {
public:
    /* p below 0 or NaN counts as 0, above 1 as 1, n below 0 as 0. */
    Binomial(int64_t n, double p)
        : n_(double(std::max<int64_t>(n, 0))), mirrored_(p > 0.5) {
        double clipped = p > 0 ? std::min(p, 1.0) : 0.0;
        p_ = mirrored_ ? 1 - clipped : clipped;
        if (n_ * p_ < kLargeMean) {
            at_zero_ = std::exp(n_ * std::log1p(-p_));
        } else {
            prepare();
        }
    }

    int64_t sample(Draws &draws) const {
        double k = 0;
        if (n_ > 0 && p_ > 0) {
            k = n_ * p_ < kLargeMean ? invert(draws) : reject(draws);
        }
        return saturated(mirrored_ ? n_ - k : k);
    }

private:
    static constexpr double kLargeMean = 10;

    void prepare() {
        double q = 1 - p_, deviation = std::sqrt(n_ * p_ * q);
        double b = 1.15 + 2.53 * deviation;
        method_ = {-0.0873 + 0.0248 * b + 0.01 * p_, b, n_ * p_ + 0.5,
                   0.92 - 4.2 / b, (2.83 + 5.1 / b) * deviation, n_};
        mode_ = std::floor((n_ + 1) * p_);
        log_odds_ = std::log(p_ / q);
        at_mode_ = log_factorial(mode_) + log_factorial(n_ - mode_);
    }

    double invert(Draws &draws) const {
        double u = draws.uniform(), probability = at_zero_;
        double odds = p_ / (1 - p_), k = 0;
        while (u >= probability && k < n_ && probability > kNegligible) {
            u -= probability;
            probability *= (n_ - k) / (k + 1) * odds;
            ++k;
        }
        return k;
    }

    double reject(Draws &draws) const {
        return method_.sample(draws, [this](double k) {
            return at_mode_ - log_factorial(k) - log_factorial(n_ - k)
                   + (k - mode_) * log_odds_;
        });
    }

    double n_, p_ = 0, at_zero_ = 0, mode_ = 0, log_odds_ = 0, at_mode_ = 0;
    bool mirrored_;
    TransformedRejection method_{};
};

}  // namespace host

#endif
