/* Driver API, chapters "Initialization" and "Device Management". */
#include <cstring>

#include "allocation.h"
#include "attributes.h"
#include "error.h"
#include "version.h"

using host::check_device;
using host::cu;

namespace {

int get_name(char *out, int size, CUdevice device) {
    if (int status = check_device(device)) return status;
    if (!out || size < 1) {
        return host::fail(CUDA_ERROR_INVALID_VALUE, "no room for the name");
    }
    std::strncpy(out, host::device_name().c_str(),
                 static_cast<size_t>(size));
    out[size - 1] = '\0';
    return 0;
}

int get_uuid(CUuuid *out, CUdevice device) {
    if (int status = check_device(device)) return status;
    std::memcpy(out->bytes, "CuPy-host-device", sizeof out->bytes);
    return 0;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
    if (flags == 0) return CUDA_SUCCESS;
    return cu(host::fail(CUDA_ERROR_INVALID_VALUE,
                         "invalid argument: cuInit flags must be 0"));
}

CUresult cuDriverGetVersion(int *version) {
    *version = host::kVersion;
    return CUDA_SUCCESS;
}

/* NVIDIA's libraries ask for tables of private functions, and take an error
 * for an answer but not the absence of this function. */
CUresult cuGetExportTable(const void **table, const CUuuid *) {
    *table = nullptr;
    return cu(host::fail(CUDA_ERROR_NOT_FOUND,
                         "the host device has no private export tables"));
}

CUresult cuDeviceGetCount(int *count) {
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    if (int status = check_device(ordinal)) return cu(status);
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    return cu(get_name(name, size, device));
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    return cu(get_uuid(uuid, device));
}

#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    return cu(get_uuid(uuid, device));
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    if (int status = check_device(device)) return cu(status);
    *bytes = host::total_bytes();
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device) {
    if (int status = check_device(device)) return cu(status);
    return cu(host::device_attribute(attribute, value));
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    if (int status = check_device(device)) return cu(status);
    *major = host::kComputeMajor;
    *minor = host::kComputeMinor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device) {
    return cu(cudaDeviceGetPCIBusId(id, size, device));
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
    return cu(cudaDeviceGetByPCIBusId(device, id));
}

CUresult cuDeviceCanAccessPeer(int *result, CUdevice device, CUdevice peer) {
    return cu(cudaDeviceCanAccessPeer(result, device, peer));
}

CUresult cuProfilerStart(void) { return CUDA_SUCCESS; }
CUresult cuProfilerStop(void) { return CUDA_SUCCESS; }

}  // extern "C"
