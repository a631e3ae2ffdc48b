/* One call of cupy.random's generator interface. */
#ifndef CUPY_HOST_GENERATOR_CALL_H_
#define CUPY_HOST_GENERATOR_CALL_H_

#include <sys/types.h>

#include <cstdint>

#include "../common/parallel.h"
#include "../generator/state.h"
#include "../random/draws.h"
#include "../random/fill.h"
#include "../random/normal.h"

namespace host {

/* The parameters that all functions have in common: `state` is the bit
 * generator's memory, `out` an array of `size` elements in C order. */
struct Call {
    int generator;
    intptr_t state, out;
    ssize_t size;

    GeneratorState *memory() const {
        return reinterpret_cast<GeneratorState *>(state);
    }

    /* Nothing to fill, or nothing to fill it from (a bit generator made
     * for zero samples, which fails to launch on a GPU). */
    bool empty() const { return size <= 0 || state == 0; }
};

/* out[i] = convert(words of element i), kWords each. */
template <unsigned kWords, typename T, typename Convert>
void fill_from_words(const Call &call, const Convert &convert) {
    if (call.empty()) return;
    GeneratorState *memory = call.memory();
    fill<kWords>(memory->words(call.generator), memory->position,
                 reinterpret_cast<T *>(call.out), uint64_t(call.size),
                 convert);
    memory->position += uint64_t(call.size) * kWords;
}

template <typename T>
void fill_normal(const Call &call) {
    if (call.empty()) return;
    GeneratorState *memory = call.memory();
    fill_pairs<kPairWords<T>>(
        memory->words(call.generator), memory->position,
        reinterpret_cast<T *>(call.out), uint64_t(call.size),
        normal_pair<T>);
    memory->position += (uint64_t(call.size) + 1) / 2 * kPairWords<T>;
}

/* out[i] = sample(draws of element i, i, cache).  `Cache` starts anew for
 * each range of elements and holds what depends on parameters alone. */
template <typename T, typename Cache, typename Sample>
void fill_from_draws(const Call &call, const Sample &sample) {
    if (call.empty()) return;
    GeneratorState *memory = call.memory();
    WordStream stream = memory->elements(call.generator);
    uint64_t position = memory->position;
    T *out = reinterpret_cast<T *>(call.out);
    parallel_for(uint64_t(call.size), 2048, [&](uint64_t i, uint64_t end) {
        Cache cache{};
        for (; i < end; ++i) {
            Draws draws(stream, position + i);
            out[i] = sample(draws, i, cache);
        }
    });
    memory->position += uint64_t(call.size);
}

struct NoCache {};

}  // namespace host

#endif
