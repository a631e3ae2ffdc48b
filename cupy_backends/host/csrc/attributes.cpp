/* Device attributes.
 *
 * The shape of the device is that of compute capability 8.0 (CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability"):
 * kernels are compiled for it.  A multiprocessor stands for a worker thread.
 * What is not supported or not known is 0. */
#include "attributes.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "error.h"
#include "pool.h"

namespace host {
namespace {

struct Attribute {
    int number, value;
};

constexpr Attribute kFixed[] = {
    {cudaDevAttrMaxThreadsPerBlock, kMaxThreadsPerBlock},
    {cudaDevAttrMaxBlockDimX, kMaxBlockDim[0]},
    {cudaDevAttrMaxBlockDimY, kMaxBlockDim[1]},
    {cudaDevAttrMaxBlockDimZ, kMaxBlockDim[2]},
    {cudaDevAttrMaxGridDimX, kMaxGridDim[0]},
    {cudaDevAttrMaxGridDimY, kMaxGridDim[1]},
    {cudaDevAttrMaxGridDimZ, kMaxGridDim[2]},
    {cudaDevAttrMaxSharedMemoryPerBlock, kSharedPerBlock},
    {cudaDevAttrTotalConstantMemory, kMaxConstant},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxPitch, 2147483647},
    {cudaDevAttrMaxRegistersPerBlock, kRegisters},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrIntegrated, 1},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrSurfaceAlignment, 512},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrMaxThreadsPerMultiProcessor, kMaxThreadsPerSM},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrTexturePitchAlignment, 32},
    {cudaDevAttrComputeCapabilityMajor, kComputeMajor},
    {cudaDevAttrComputeCapabilityMinor, kComputeMinor},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, kSharedPerSM},
    {cudaDevAttrMaxRegistersPerMultiprocessor, kRegisters},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrHostNativeAtomicSupported, 1},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
    {cudaDevAttrPageableMemoryAccess, 1},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, kSharedPerBlockOptin},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrPageableMemoryAccessUsesHostPageTables, 1},
    {cudaDevAttrDirectManagedMemAccessFromHost, 1},
    {cudaDevAttrMaxBlocksPerMultiprocessor, kMaxBlocksPerSM},
    {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
    {cudaDevAttrHostRegisterReadOnlySupported, 1},
    {cudaDevAttrMemoryPoolsSupported, 1},
};

// Numbers up to here are known to CUDA 13; what kFixed lacks is 0.
constexpr int kLastAttribute = 148;

int clamp_to_int(long value) {
    return static_cast<int>(std::clamp(value, 0L, 2147483647L));
}

/* The text behind "key :" in /proc/cpuinfo, empty if there is none. */
std::string cpuinfo(const char *key) {
    FILE *file = std::fopen("/proc/cpuinfo", "r");
    if (!file) return "";
    char line[256];
    std::string value;
    while (value.empty() && std::fgets(line, sizeof line, file)) {
        if (std::strncmp(line, key, std::strlen(key)) != 0) continue;
        const char *colon = std::strchr(line, ':');
        if (colon) value = colon + 1 + std::strspn(colon + 1, " \t");
    }
    std::fclose(file);
    size_t end = value.find_last_not_of(" \n");
    return end == std::string::npos ? "" : value.substr(0, end + 1);
}

int clock_khz() {
    static const int khz =
        clamp_to_int(std::strtol(cpuinfo("cpu MHz").c_str(), nullptr, 10) *
                     1000);
    return khz;
}

/* Attributes of the machine at hand; false for others. */
bool machine_attribute(int attribute, int *value) {
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
        *value = static_cast<int>(num_threads());
        return true;
    case cudaDevAttrClockRate:
        *value = clock_khz();
        return true;
    case cudaDevAttrL2CacheSize:
        *value = clamp_to_int(sysconf(_SC_LEVEL3_CACHE_SIZE));
        return true;
    default:
        return false;
    }
}

}  // namespace

int device_attribute(int attribute, int *value) {
    if (!value) return fail(cudaErrorInvalidValue, "NULL result pointer");
    if (attribute < 1 || attribute > kLastAttribute) {
        return fail(cudaErrorInvalidValue,
                    "invalid argument: device attribute %d is not known to "
                    "the host device", attribute);
    }
    if (machine_attribute(attribute, value)) return 0;
    *value = 0;
    for (const Attribute &fixed : kFixed) {
        if (fixed.number == attribute) *value = fixed.value;
    }
    return 0;
}

const std::string &device_name() {
    static const std::string &name = *new std::string([] {
        std::string model = cpuinfo("model name");
        if (model.empty()) return std::string("CuPy host device");
        return "CuPy host device (" + model + ")";
    }());
    return name;
}

int check_device(int device) {
    if (device == 0) return 0;
    return fail(cudaErrorInvalidDevice,
                "invalid device ordinal: %d; the host device is device 0 "
                "and the only one", device);
}

}  // namespace host
