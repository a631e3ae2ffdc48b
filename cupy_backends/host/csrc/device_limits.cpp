/* cudaDeviceGetLimit and cudaDeviceSetLimit. */
#include "device_limits.h"

#include <atomic>

#include "error.h"

namespace host {
namespace {

// CUDA's defaults.  Only the heap size is enforced here; the stack is the
// one of the worker threads and printf's buffer grows.
std::atomic<size_t> limits[] = {
    {1024},                // cudaLimitStackSize
    {size_t{1} << 20},     // cudaLimitPrintfFifoSize
    {size_t{8} << 20},     // cudaLimitMallocHeapSize
};
constexpr int kLimits = sizeof limits / sizeof limits[0];

int check_limit(int limit) {
    if (limit >= 0 && limit < kLimits) return 0;
    return fail(cudaErrorUnsupportedLimit,
                "limit %d is not supported on the host device", limit);
}

}  // namespace

size_t device_heap_limit() { return limits[cudaLimitMallocHeapSize]; }

}  // namespace host

using host::rt;

extern "C" {

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
    if (int status = host::check_limit(limit)) return rt(status);
    *value = host::limits[limit];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    if (int status = host::check_limit(limit)) return rt(status);
    host::limits[limit] = value;
    return cudaSuccess;
}

}  // extern "C"
