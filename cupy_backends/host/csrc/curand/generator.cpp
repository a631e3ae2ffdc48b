/* Generators: life cycle and settings. */

#include "../curand/generator.h"

#include <mutex>
#include <new>
#include <set>

using namespace host;

namespace {

struct Live {
    std::mutex mutex;
    std::set<const CurandGenerator *> handles;
};

/* Never destroyed: generators may outlive this library's destructors. */
Live &live() {
    static Live *instance = new Live;
    return *instance;
}

int enter(curandGenerator_t generator) {
    std::lock_guard<std::mutex> lock(live().mutex);
    live().handles.insert(generator);
    return kSuccess;
}

bool leave(curandGenerator_t generator) {
    std::lock_guard<std::mutex> lock(live().mutex);
    return live().handles.erase(generator) == 1;
}

/* CURAND_RNG_PSEUDO_*: default, XORWOW, MRG32K3A, MTGP32, MT19937,
 * PHILOX4_32_10.  Quasi-random sequences (200 and up) have properties that
 * pseudo-random numbers lack, so nothing stands in for them. */
bool is_pseudo_random(int kind) {
    switch (kind) {
    case 100: case 101: case 121: case 141: case 142: case 161: return true;
    default: return false;
    }
}

/* CURAND_ORDERING_PSEUDO_*: best, default, seeded, legacy, dynamic. */
bool is_pseudo_ordering(int ordering) {
    return ordering >= 100 && ordering <= 104;
}

}  // namespace

bool host::usable(const CurandGenerator *handle) {
    std::lock_guard<std::mutex> lock(live().mutex);
    return live().handles.count(handle) == 1;
}

/* The version of the API, as of CUDA 13.0. */
int curandGetVersion(int *version) {
    *version = 10400;
    return kSuccess;
}

int curandCreateGenerator(curandGenerator_t *generator, int kind) {
    if (!is_pseudo_random(kind)) return kTypeError;
    // The default kind is another name of XORWOW.
    *generator = new (std::nothrow) CurandGenerator(kind == 100 ? 101 : kind);
    return *generator ? enter(*generator) : kAllocationFailed;
}

int curandDestroyGenerator(curandGenerator_t generator) {
    if (!leave(generator)) return kNotInitialized;
    delete generator;
    return kSuccess;
}

/* All work is done when a call returns, so every stream will do. */
int curandSetStream(curandGenerator_t generator, void *) {
    return usable(generator) ? kSuccess : kNotInitialized;
}

int curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                       unsigned long long seed) {
    if (!usable(generator)) return kNotInitialized;
    generator->seed(seed);
    return kSuccess;
}

int curandSetGeneratorOffset(curandGenerator_t generator,
                             unsigned long long offset) {
    if (!usable(generator)) return kNotInitialized;
    generator->set_offset(offset);
    return kSuccess;
}

/* The order does not depend on the number of threads in the first place. */
int curandSetGeneratorOrdering(curandGenerator_t generator, int ordering) {
    if (!usable(generator)) return kNotInitialized;
    return is_pseudo_ordering(ordering) ? kSuccess : kOutOfRange;
}
