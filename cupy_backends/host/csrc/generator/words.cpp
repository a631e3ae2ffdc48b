/* Bit generators and the numbers that take a fixed count of words.  Names
 * and parameters are those of cupy/random/cupy_distributions.cuh. */

#include <cmath>

#include "../generator/call.h"

using host::Call;

void init_curand_generator(int, intptr_t state, uint64_t seed, ssize_t size,
                           intptr_t) {
    if (size > 0) {
        *reinterpret_cast<host::GeneratorState *>(state) = {seed, 0};
    }
}

void raw(int generator, intptr_t state, ssize_t, intptr_t out, ssize_t size,
         intptr_t) {
    host::fill_from_words<1, uint32_t>(
        Call{generator, state, out, size},
        [](const uint32_t *words) { return words[0]; });
}

void random_uniform(int generator, intptr_t state, ssize_t, intptr_t out,
                    ssize_t size, intptr_t) {
    host::fill_from_words<2, double>(
        Call{generator, state, out, size},
        [](const uint32_t *words) {
            return host::half_open(host::word64(words));
        });
}

void random_uniform_float(int generator, intptr_t state, ssize_t,
                          intptr_t out, ssize_t size, intptr_t) {
    host::fill_from_words<1, float>(
        Call{generator, state, out, size},
        [](const uint32_t *words) { return host::half_open(words[0]); });
}

void exponential(int generator, intptr_t state, ssize_t, intptr_t out,
                 ssize_t size, intptr_t) {
    host::fill_from_words<2, double>(
        Call{generator, state, out, size},
        [](const uint32_t *words) {
            return -std::log(host::positive(host::word64(words)));
        });
}

void standard_normal(int generator, intptr_t state, ssize_t, intptr_t out,
                     ssize_t size, intptr_t) {
    host::fill_normal<double>(Call{generator, state, out, size});
}

void standard_normal_float(int generator, intptr_t state, ssize_t,
                           intptr_t out, ssize_t size, intptr_t) {
    host::fill_normal<float>(Call{generator, state, out, size});
}
