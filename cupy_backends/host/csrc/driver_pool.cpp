/* Driver API, "Stream Ordered Memory Allocator": as the runtime's, whose
 * attribute numbers and structures it shares. */
#include "error.h"

using host::cu;

static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps),
              "properties of memory pools");
static_assert(static_cast<int>(CU_MEMPOOL_ATTR_USED_MEM_HIGH) ==
                  static_cast<int>(cudaMemPoolAttrUsedMemHigh),
              "attributes of memory pools");

namespace {

cudaMemPoolAttr runtime(CUmemPool_attribute attribute) {
    return static_cast<cudaMemPoolAttr>(attribute);
}

}  // namespace

extern "C" {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device) {
    return cu(cudaDeviceGetDefaultMemPool(out, device));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device) {
    return cu(cudaDeviceGetMemPool(out, device));
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    return cu(cudaDeviceSetMemPool(device, pool));
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props) {
    return cu(cudaMemPoolCreate(
        out, reinterpret_cast<const cudaMemPoolProps *>(props)));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    return cu(cudaMemPoolDestroy(pool));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    return cu(cudaMemPoolTrimTo(pool, keep));
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool,
                               CUmemPool_attribute attribute, void *value) {
    return cu(cudaMemPoolGetAttribute(pool, runtime(attribute), value));
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool,
                               CUmemPool_attribute attribute, void *value) {
    return cu(cudaMemPoolSetAttribute(pool, runtime(attribute), value));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size,
                                 CUmemoryPool pool, CUstream stream) {
    void *pointer = nullptr;
    int status = cudaMallocFromPoolAsync(&pointer, size, pool, stream);
    *out = reinterpret_cast<CUdeviceptr>(pointer);
    return cu(status);
}

}  // extern "C"
