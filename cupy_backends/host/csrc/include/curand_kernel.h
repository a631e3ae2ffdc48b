/* In place of cuRAND's header, for upstream's cupy_distributions.cuh: the
 * modules that we build only name these types, the one that knows their
 * sizes is upstream's own. */
#ifndef CUPY_HOST_CURAND_KERNEL_H_
#define CUPY_HOST_CURAND_KERNEL_H_

struct curandState;
struct curandStateMRG32k3a;
struct curandStatePhilox4_32_10_t;

#endif
