/* The part of cuRAND's host API that cupy_backends/cuda/libs/curand.pyx
 * uses, declared from its documentation.  Enumerators are int here: a
 * number that names none of them must be refused, not be undefined. */
#ifndef CUPY_HOST_CURAND_CURAND_ABI_H_
#define CUPY_HOST_CURAND_CURAND_ABI_H_

#include <stddef.h>

namespace host {

enum CurandStatus {
    kSuccess = 0,
    kNotInitialized = 101,
    kAllocationFailed = 102,
    kTypeError = 103,
    kOutOfRange = 104,
    kLengthNotMultiple = 105,
};

class CurandGenerator;

}  // namespace host

#pragma GCC visibility push(default)
extern "C" {

typedef host::CurandGenerator *curandGenerator_t;

int curandGetVersion(int *version);
int curandCreateGenerator(curandGenerator_t *, int kind);
int curandDestroyGenerator(curandGenerator_t);
int curandSetStream(curandGenerator_t, void *stream);
int curandSetPseudoRandomGeneratorSeed(curandGenerator_t,
                                       unsigned long long seed);
int curandSetGeneratorOffset(curandGenerator_t, unsigned long long offset);
int curandSetGeneratorOrdering(curandGenerator_t, int ordering);
int curandGenerate(curandGenerator_t, unsigned *out, size_t n);
int curandGenerateLongLong(curandGenerator_t, unsigned long long *out,
                           size_t n);
int curandGenerateUniform(curandGenerator_t, float *out, size_t n);
int curandGenerateUniformDouble(curandGenerator_t, double *out, size_t n);
int curandGenerateNormal(curandGenerator_t, float *out, size_t n, float mean,
                         float deviation);
int curandGenerateNormalDouble(curandGenerator_t, double *out, size_t n,
                               double mean, double deviation);
int curandGenerateLogNormal(curandGenerator_t, float *out, size_t n,
                            float mean, float deviation);
int curandGenerateLogNormalDouble(curandGenerator_t, double *out, size_t n,
                                  double mean, double deviation);
int curandGeneratePoisson(curandGenerator_t, unsigned *out, size_t n,
                          double mean);

}  // extern "C"
#pragma GCC visibility pop

#endif
