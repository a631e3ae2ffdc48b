/* Poisson numbers. */
#ifndef CUPY_HOST_RANDOM_POISSON_H_
#define CUPY_HOST_RANDOM_POISSON_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "../random/rejection.h"

namespace host {

/* A mean and what follows from it; kept while the mean stays the same. */
class Poisson {
public:
    explicit Poisson(double mean) : mean_(mean) {
        if (mean < kLargeMean) {
            at_zero_ = std::exp(-mean);
        } else {
            prepare();
        }
    }

    /* 0 for a mean that is 0, negative or NaN. */
    double sample(Draws &draws) const {
        if (!(mean_ > 0)) return 0;
        return mean_ < kLargeMean ? invert(draws) : reject(draws);
    }

private:
    static constexpr double kLargeMean = 10;

    void prepare() {
        double b = 0.931 + 2.53 * std::sqrt(mean_);
        method_ = {-0.059 + 0.02483 * b, b, mean_ + 0.43,
                   0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4),
                   std::numeric_limits<double>::max()};
        log_mean_ = std::log(mean_);
    }

    double invert(Draws &draws) const {
        double u = draws.uniform(), probability = at_zero_;
        int k = 0;
        while (u >= probability && probability > kNegligible) {
            u -= probability;
            probability *= mean_ / ++k;
        }
        return k;
    }

    double reject(Draws &draws) const {
        return method_.sample(draws, [this](double k) {
            return k * log_mean_ - mean_ - log_factorial(k);
        });
    }

    double mean_, at_zero_ = 0, log_mean_ = 0;
    TransformedRejection method_{};
};

}  // namespace host

#endif
