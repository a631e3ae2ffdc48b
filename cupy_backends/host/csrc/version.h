#ifndef CUPY_HOST_VERSION_H_
#define CUPY_HOST_VERSION_H_

#include <cuda.h>

namespace host {

/* The CUDA version whose API this library speaks: that of its headers. */
constexpr int kVersion = CUDA_VERSION;

}  // namespace host

#endif
