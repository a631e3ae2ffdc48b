/* Gamma and beta distributions.  Names and parameters are those of
 * cupy/random/cupy_distributions.cuh; parameters out of range give NaN. */

#include "../random/continuous.h"

#include "../generator/arguments.h"
#include "../generator/call.h"

using host::ArrayArgument;
using host::Call;
using host::Draws;
using host::NoCache;

void standard_gamma(int generator, intptr_t state, ssize_t, intptr_t out,
                    ssize_t size, intptr_t, intptr_t shape) {
    ArrayArgument<double> shapes(shape);
    host::fill_from_draws<double, NoCache>(
        Call{generator, state, out, size},
        [&](Draws &draws, uint64_t i, NoCache &) {
            return host::gamma_sample(draws, shapes[i]);
        });
}

void beta(int generator, intptr_t state, ssize_t, intptr_t out, ssize_t size,
          intptr_t, intptr_t a, intptr_t b) {
    ArrayArgument<double> as(a), bs(b);
    host::fill_from_draws<double, NoCache>(
        Call{generator, state, out, size},
        [&](Draws &draws, uint64_t i, NoCache &) {
            return host::beta_sample(draws, as[i], bs[i]);
        });
}
