#ifndef CUPY_HOST_DEVICE_LIMITS_H_
#define CUPY_HOST_DEVICE_LIMITS_H_

#include <cstddef>

namespace host {

/* cudaLimitMallocHeapSize, in bytes. */
size_t device_heap_limit();

}  // namespace host

#endif
