/* What a bit generator keeps in the memory that CuPy gives it. */
#ifndef CUPY_HOST_GENERATOR_STATE_H_
#define CUPY_HOST_GENERATOR_STATE_H_

#include <cstddef>
#include <cstdint>

#include "../common/philox.h"

namespace host {

/* CuPy allocates one cuRAND state (at least 48 bytes) for each of many
 * threads.  A counter-based generator needs one state in all; it lies at
 * the front. */
struct GeneratorState {
    uint64_t seed;
    uint64_t position;  // words, or elements' streams, used so far

    /* The words of numbers that take a fixed count of them. */
    WordStream words(int generator) const {
        return {seed, 2 * uint32_t(generator)};
    }

    /* The streams of elements whose algorithms may reject.  Sharing
     * `position` with the words wastes some of 2**64 places but keeps
     * every stream from being used twice. */
    WordStream elements(int generator) const {
        return {seed, 2 * uint32_t(generator) + 1};
    }
};

static_assert(sizeof(GeneratorState) <= 48, "must fit a cuRAND state");

}  // namespace host

#endif
