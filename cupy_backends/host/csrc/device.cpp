/* Runtime API, chapters "Device Management", "Version Management" and
 * "Peer Device Memory Access"; the profiler's switches. */
#include <cuda_profiler_api.h>

#include <cstring>

#include "allocation.h"
#include "attributes.h"
#include "error.h"
#include "fault.h"
#include "mempool.h"
#include "version.h"

using host::check_device;
using host::rt;

namespace {

constexpr char kBusId[] = "0000:00:00.0";

int get_bus_id(char *out, int size, int device) {
    if (int status = check_device(device)) return status;
    if (!out || size < static_cast<int>(sizeof kBusId)) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: the PCI bus id takes %zu bytes",
                          sizeof kBusId);
    }
    std::memcpy(out, kBusId, sizeof kBusId);
    return 0;
}

int find_bus_id(int *device, const char *id) {
    // "domain:bus:device.function", and the short forms that CUDA accepts.
    bool known = id && (!std::strcmp(id, kBusId) ||
                        !std::strcmp(id, "0000:00:00") ||
                        !std::strcmp(id, "00:00.0"));
    if (!known) {
        return host::fail(cudaErrorInvalidDevice,
                          "invalid device ordinal: no device has the PCI "
                          "bus id %s; the host device's is %s",
                          id ? id : "NULL", kBusId);
    }
    *device = 0;
    return 0;
}

int can_access_peer(int *result, int device, int peer) {
    if (int status = check_device(device)) return status;
    if (int status = check_device(peer)) return status;
    *result = 0;  // no device is a peer of itself
    return 0;
}

int enable_peer(int peer) {
    if (int status = check_device(peer)) return status;
    return host::fail(cudaErrorInvalidDevice,
                      "invalid device ordinal: device 0 is the current "
                      "device and cannot be its own peer");
}

int disable_peer(int peer) {
    if (int status = check_device(peer)) return status;
    return host::fail_text(cudaErrorPeerAccessNotEnabled, "");
}

}  // namespace

extern "C" {

cudaError_t cudaDriverGetVersion(int *version) {
    *version = host::kVersion;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = host::kVersion;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return rt(check_device(device)); }

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute,
                                   int device) {
    if (int status = check_device(device)) return rt(status);
    return rt(host::device_attribute(attribute, value));
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device) {
    return rt(get_bus_id(id, size, device));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) {
    return rt(find_bus_id(device, id));
}

cudaError_t cudaDeviceSynchronize(void) {
    host::trim_pools();
    return rt(host::synchronize());
}

cudaError_t cudaDeviceCanAccessPeer(int *result, int device, int peer) {
    return rt(can_access_peer(result, device, peer));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned /*flags*/) {
    return rt(enable_peer(peer));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return rt(disable_peer(peer));
}

/* There is no profiler to start or stop; without one attached, CUDA's
 * functions succeed as well. */
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }

}  // extern "C"
