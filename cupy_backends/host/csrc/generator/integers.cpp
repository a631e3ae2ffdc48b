/* Integer distributions.  Names and parameters are those of
 * cupy/random/cupy_distributions.cuh; parameters out of range give the
 * values that random/ documents, as these functions cannot fail. */

#include <optional>
#include <tuple>

#include "../generator/arguments.h"
#include "../generator/call.h"
#include "../random/binomial.h"
#include "../random/discrete.h"
#include "../random/hypergeometric.h"
#include "../random/poisson.h"

using host::ArrayArgument;
using host::Call;
using host::Draws;
using host::NoCache;

namespace {

/* Set-up of a distribution, kept while its parameters stay the same. */
template <typename Distribution, typename... Parameters>
class Prepared {
public:
    const Distribution &get(Parameters... parameters) {
        std::tuple<Parameters...> wanted(parameters...);
        if (!distribution_ || wanted != parameters_) {
            parameters_ = wanted;
            distribution_.emplace(parameters...);
        }
        return *distribution_;
    }

private:
    std::tuple<Parameters...> parameters_;
    std::optional<Distribution> distribution_;
};

}  // namespace

/* Uniform on [0, largest]; `mask` covers the bits of `largest`. */
void interval_32(int generator, intptr_t state, ssize_t, intptr_t out,
                 ssize_t size, intptr_t, uint32_t largest, uint32_t mask) {
    host::fill_from_draws<uint32_t, NoCache>(
        Call{generator, state, out, size},
        [=](Draws &draws, uint64_t, NoCache &) {
            uint32_t number;
            do number = draws.word() & mask; while (number > largest);
            return number;
        });
}

void interval_64(int generator, intptr_t state, ssize_t, intptr_t out,
                 ssize_t size, intptr_t, uint64_t largest, uint64_t mask) {
    host::fill_from_draws<uint64_t, NoCache>(
        Call{generator, state, out, size},
        [=](Draws &draws, uint64_t, NoCache &) {
            uint64_t number;
            do number = draws.word_pair() & mask; while (number > largest);
            return number;
        });
}

void geometric(int generator, intptr_t state, ssize_t, intptr_t out,
               ssize_t size, intptr_t, intptr_t p) {
    ArrayArgument<double> ps(p);
    host::fill_from_draws<int64_t, NoCache>(
        Call{generator, state, out, size},
        [&](Draws &draws, uint64_t i, NoCache &) {
            return host::geometric_sample(draws, ps[i]);
        });
}

void logseries(int generator, intptr_t state, ssize_t, intptr_t out,
               ssize_t size, intptr_t, intptr_t p) {
    ArrayArgument<double> ps(p);
    host::fill_from_draws<int64_t, NoCache>(
        Call{generator, state, out, size},
        [&](Draws &draws, uint64_t i, NoCache &) {
            return host::logseries_sample(draws, ps[i]);
        });
}

void poisson(int generator, intptr_t state, ssize_t, intptr_t out,
             ssize_t size, intptr_t, intptr_t lam) {
    ArrayArgument<double> means(lam);
    using Cache = Prepared<host::Poisson, double>;
    host::fill_from_draws<int64_t, Cache>(
        Call{generator, state, out, size},
        [&](Draws &draws, uint64_t i, Cache &cache) {
            return host::saturated(cache.get(means[i]).sample(draws));
        });
}

/* Keeps its set-up on the stack, not in the memory that CuPy offers. */
void binomial(int generator, intptr_t state, ssize_t, intptr_t out,
              ssize_t size, intptr_t, intptr_t n, intptr_t p, intptr_t) {
    ArrayArgument<int64_t> ns(n);
    ArrayArgument<double> ps(p);
    using Cache = Prepared<host::Binomial, int64_t, double>;
    host::fill_from_draws<int64_t, Cache>(
        Call{generator, state, out, size},
        [&](Draws &draws, uint64_t i, Cache &cache) {
            return cache.get(ns[i], ps[i]).sample(draws);
        });
}

void hypergeometric(int generator, intptr_t state, ssize_t, intptr_t out,
                    ssize_t size, intptr_t, intptr_t good, intptr_t bad,
                    intptr_t sample) {
    ArrayArgument<int64_t> goods(good), bads(bad), samples(sample);
    using Cache = Prepared<host::Hypergeometric, int64_t, int64_t, int64_t>;
    host::fill_from_draws<int64_t, Cache>(
        Call{generator, state, out, size},
        [&](Draws &draws, uint64_t i, Cache &cache) {
            return cache.get(goods[i], bads[i], samples[i]).sample(draws);
        });
}
