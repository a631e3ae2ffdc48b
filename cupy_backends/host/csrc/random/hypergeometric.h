/* Hypergeometric numbers: how many of `sample` draws without replacement
 * are good. */
#ifndef CUPY_HOST_RANDOM_HYPERGEOMETRIC_H_
#define CUPY_HOST_RANDOM_HYPERGEOMETRIC_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../random/rejection.h"

namespace host {

/* The smaller kind is counted and the smaller part of the population is
 * drawn; sample() undoes both. */
class Hypergeometric {
public:
    /* Negative numbers count as 0, a sample of more than all as all. */
    Hypergeometric(int64_t good, int64_t bad, int64_t sample)
        : good_(double(std::max<int64_t>(good, 0))),
          bad_(double(std::max<int64_t>(bad, 0))) {
        population_ = good_ + bad_;
        taken_ = std::clamp(double(sample), 0.0, population_);
        few_ = std::min(good_, bad_);
        many_ = std::max(good_, bad_);
        draws_ = std::min(taken_, population_ - taken_);
        if (draws_ > kFewDraws) prepare();
    }

    int64_t sample(Draws &draws) const {
        double k = draws_ > kFewDraws ? reject(draws) : urn(draws);
        if (good_ > bad_) k = draws_ - k;
        return saturated(taken_ > draws_ ? good_ - k : k);
    }

private:
    static constexpr double kFewDraws = 10;

    double log_inverse_weight(double k) const {
        return log_factorial(k) + log_factorial(few_ - k)
               + log_factorial(draws_ - k)
               + log_factorial(many_ - draws_ + k);
    }

    void prepare() {
        double share = few_ / population_, mean = draws_ * share;
        double variance = (population_ - draws_) * draws_ * share
                          * (1 - share) / (population_ - 1);
        double deviation = std::sqrt(variance + 0.5);
        double mode = std::floor((draws_ + 1) * (few_ + 1)
                                 / (population_ + 2));
        center_ = mean + 0.5;
        // 2 sqrt(2/e) and 3 - 2 sqrt(3/e)
        width_ = 1.7155277699214135 * deviation + 0.8989161620588988;
        at_mode_ = log_inverse_weight(mode);
        // Beyond 16 deviations, probabilities vanish in 53 bits.
        end_ = std::min(std::min(draws_, few_) + 1,
                        std::floor(center_ + 16 * deviation));
    }

    /* Ratio of uniforms: E. Stadlober, "The ratio of uniforms approach for
     * generating discrete random variates", 1990. */
    double reject(Draws &draws) const {
        for (;;) {
            double u = draws.positive_uniform();
            double x = center_ + width_ * (draws.uniform() - 0.5) / u;
            if (!(x >= 0 && x < end_)) continue;
            double k = std::floor(x);
            double height = at_mode_ - log_inverse_weight(k);
            if (u * (4 - u) - 3 <= height) return k;
            if (u * (u - height) >= 1) continue;
            if (2 * std::log(u) <= height) return k;
        }
    }

    /* Takes one after the other out of the urn. */
    double urn(Draws &draws) const {
        double left = few_, total = population_;
        for (double i = 0; i < draws_; ++i, --total) {
            if (draws.uniform() * total < left) --left;
        }
        return few_ - left;
    }

    double good_, bad_, population_, taken_, few_, many_, draws_;
    double center_ = 0, width_ = 0, at_mode_ = 0, end_ = 0;
};

}  // namespace host

#endif
