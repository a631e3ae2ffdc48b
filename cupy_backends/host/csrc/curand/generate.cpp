/* Generation functions. */

#include <cmath>
#include <limits>

#include "../common/parallel.h"
#include "../curand/generator.h"
#include "../random/fill.h"
#include "../random/normal.h"
#include "../random/poisson.h"

using namespace host;

namespace {

/* Fills `out` with numbers of kWords words each. */
template <unsigned kWords, typename T, typename Convert>
int generate(CurandGenerator *generator, T *out, size_t n,
             const Convert &convert) {
    if (!usable(generator)) return kNotInitialized;
    uint64_t position = generator->advance(n * kWords);
    fill<kWords>(generator->words(), position, out, n, convert);
    return kSuccess;
}

/* transform(normal number); numbers come in pairs, as of cuRAND. */
template <typename T, typename Transform>
int generate_normal(CurandGenerator *generator, T *out, size_t n,
                    const Transform &transform) {
    if (!usable(generator)) return kNotInitialized;
    if (n % 2) return kLengthNotMultiple;
    constexpr unsigned kWords = kPairWords<T>;
    uint64_t position = generator->advance(n / 2 * kWords);
    fill_pairs<kWords>(
        generator->words(), position, out, n, [&](const uint32_t *words) {
            Pair<T> pair = normal_pair<T>(words);
            return Pair<T>{transform(pair.first), transform(pair.second)};
        });
    return kSuccess;
}

unsigned clipped(double count) {
    constexpr unsigned kMax = std::numeric_limits<unsigned>::max();
    return count < double(kMax) ? unsigned(count) : kMax;
}

}  // namespace

int curandGenerate(curandGenerator_t generator, unsigned *out, size_t n) {
    return generate<1>(generator, out, n,
                       [](const uint32_t *words) { return words[0]; });
}

/* cuRAND has 64-bit integers of one quasi-random kind only. */
int curandGenerateLongLong(curandGenerator_t generator, unsigned long long *,
                           size_t) {
    return usable(generator) ? kTypeError : kNotInitialized;
}

int curandGenerateUniform(curandGenerator_t generator, float *out, size_t n) {
    return generate<1>(
        generator, out, n,
        [](const uint32_t *words) { return positive(words[0]); });
}

int curandGenerateUniformDouble(curandGenerator_t generator, double *out,
                                size_t n) {
    return generate<2>(
        generator, out, n,
        [](const uint32_t *words) { return positive(word64(words)); });
}

int curandGenerateNormal(curandGenerator_t generator, float *out, size_t n,
                         float mean, float deviation) {
    return generate_normal(generator, out, n, [=](float normal) {
        return mean + deviation * normal;
    });
}

int curandGenerateNormalDouble(curandGenerator_t generator, double *out,
                               size_t n, double mean, double deviation) {
    return generate_normal(generator, out, n, [=](double normal) {
        return mean + deviation * normal;
    });
}

int curandGenerateLogNormal(curandGenerator_t generator, float *out,
                            size_t n, float mean, float deviation) {
    return generate_normal(generator, out, n, [=](float normal) {
        return std::exp(mean + deviation * normal);
    });
}

int curandGenerateLogNormalDouble(curandGenerator_t generator, double *out,
                                  size_t n, double mean, double deviation) {
    return generate_normal(generator, out, n, [=](double normal) {
        return std::exp(mean + deviation * normal);
    });
}

int curandGeneratePoisson(curandGenerator_t generator, unsigned *out,
                          size_t n, double mean) {
    if (!usable(generator)) return kNotInitialized;
    if (!(mean > 0)) return kOutOfRange;
    Poisson distribution(mean);
    WordStream stream = generator->elements();
    uint64_t position = generator->advance(n);
    parallel_for(n, 4096, [&](uint64_t i, uint64_t end) {
        for (; i < end; ++i) {
            Draws draws(stream, position + i);
            out[i] = clipped(distribution.sample(draws));
        }
    });
    return kSuccess;
}
