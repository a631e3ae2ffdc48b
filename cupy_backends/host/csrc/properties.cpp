/* cudaGetDeviceProperties. */
#include <cstring>

#include "allocation.h"
#include "attributes.h"
#include "error.h"

namespace {

int get(cudaDeviceAttr attribute) {
    int value = 0;
    host::device_attribute(attribute, &value);
    return value;
}

size_t get_size(cudaDeviceAttr attribute) {
    return static_cast<size_t>(get(attribute));
}

void fill_identity(cudaDeviceProp *p) {
    std::strncpy(p->name, host::device_name().c_str(), sizeof p->name - 1);
    std::memcpy(p->uuid.bytes, "CuPy-host-device", sizeof p->uuid.bytes);
    p->major = host::kComputeMajor;
    p->minor = host::kComputeMinor;
    p->multiProcessorCount = get(cudaDevAttrMultiProcessorCount);
    p->integrated = get(cudaDevAttrIntegrated);
}

void fill_shape(cudaDeviceProp *p) {
    p->warpSize = get(cudaDevAttrWarpSize);
    p->maxThreadsPerBlock = host::kMaxThreadsPerBlock;
    p->maxThreadsPerMultiProcessor = host::kMaxThreadsPerSM;
    p->maxBlocksPerMultiProcessor = host::kMaxBlocksPerSM;
    std::memcpy(p->maxThreadsDim, host::kMaxBlockDim,
                sizeof p->maxThreadsDim);
    std::memcpy(p->maxGridSize, host::kMaxGridDim, sizeof p->maxGridSize);
    p->regsPerBlock = p->regsPerMultiprocessor = host::kRegisters;
}

void fill_memory(cudaDeviceProp *p) {
    p->totalGlobalMem = host::total_bytes();
    p->totalConstMem = host::kMaxConstant;
    p->sharedMemPerBlock = host::kSharedPerBlock;
    p->sharedMemPerBlockOptin = host::kSharedPerBlockOptin;
    p->sharedMemPerMultiprocessor = host::kSharedPerSM;
    p->reservedSharedMemPerBlock =
        get_size(cudaDevAttrReservedSharedMemoryPerBlock);
    p->memPitch = get_size(cudaDevAttrMaxPitch);
    p->textureAlignment = get_size(cudaDevAttrTextureAlignment);
    p->texturePitchAlignment = get_size(cudaDevAttrTexturePitchAlignment);
    p->surfaceAlignment = get_size(cudaDevAttrSurfaceAlignment);
    p->l2CacheSize = get(cudaDevAttrL2CacheSize);
}

void fill_features(cudaDeviceProp *p) {
    p->canMapHostMemory = get(cudaDevAttrCanMapHostMemory);
    p->concurrentKernels = get(cudaDevAttrConcurrentKernels);
    p->unifiedAddressing = get(cudaDevAttrUnifiedAddressing);
    p->streamPrioritiesSupported =
        get(cudaDevAttrStreamPrioritiesSupported);
    p->globalL1CacheSupported = get(cudaDevAttrGlobalL1CacheSupported);
    p->localL1CacheSupported = get(cudaDevAttrLocalL1CacheSupported);
    p->managedMemory = get(cudaDevAttrManagedMemory);
    p->hostNativeAtomicSupported =
        get(cudaDevAttrHostNativeAtomicSupported);
    p->pageableMemoryAccess = get(cudaDevAttrPageableMemoryAccess);
    p->concurrentManagedAccess = get(cudaDevAttrConcurrentManagedAccess);
    p->canUseHostPointerForRegisteredMem =
        get(cudaDevAttrCanUseHostPointerForRegisteredMem);
    p->pageableMemoryAccessUsesHostPageTables =
        get(cudaDevAttrPageableMemoryAccessUsesHostPageTables);
    p->directManagedMemAccessFromHost =
        get(cudaDevAttrDirectManagedMemAccessFromHost);
    p->hostRegisterSupported = get(cudaDevAttrHostRegisterSupported);
    p->hostRegisterReadOnlySupported =
        get(cudaDevAttrHostRegisterReadOnlySupported);
    p->memoryPoolsSupported = get(cudaDevAttrMemoryPoolsSupported);
}

/* Fields that CUDA 13 took out of the structure. */
void fill_old_fields(cudaDeviceProp *p) {
#if CUDART_VERSION < 13000
    p->clockRate = get(cudaDevAttrClockRate);
    p->singleToDoublePrecisionPerfRatio =
        get(cudaDevAttrSingleToDoublePrecisionPerfRatio);
#else
    (void)p;
#endif
}

}  // namespace

extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties,
                                               int device) {
    if (int status = host::check_device(device)) return host::rt(status);
    std::memset(properties, 0, sizeof *properties);
    fill_identity(properties);
    fill_shape(properties);
    fill_memory(properties);
    fill_features(properties);
    fill_old_fields(properties);
    return cudaSuccess;
}
