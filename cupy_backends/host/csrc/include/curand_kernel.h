/* Stands in for cuRAND's device header, which upstream's declarations of the
 * bit generators include. The host copy of _generator_api only passes the
 * memory of states on, so their types need no content. */
#ifndef CUPY_HOST_CURAND_KERNEL_H_
#define CUPY_HOST_CURAND_KERNEL_H_

struct curandState {};
struct curandStateMRG32k3a {};
struct curandStatePhilox4_32_10_t {};

#endif
