/* Runtime API, chapters "Memory Management" and "Unified Addressing". */
#include <cstring>

#include "allocation.h"
#include "attributes.h"
#include "copy.h"
#include "error.h"
#include "fault.h"
#include "mempool.h"
#include "stream.h"

using host::check_device;
using host::rt;

namespace {

/* The largest legal alignment of rows, as cudaMallocPitch promises. */
constexpr size_t kPitch = 512;

constexpr unsigned kRegisterFlags =
    cudaHostRegisterPortable | cudaHostRegisterMapped |
    cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

int free_synchronised(void *pointer) {
    if (int status = host::synchronize()) return status;
    return host::free_device(pointer);
}

int allocate_pinned(void **pointer, size_t size, unsigned flags) {
    unsigned known = cudaHostAllocPortable | cudaHostAllocMapped |
                     cudaHostAllocWriteCombined;
    if (flags & ~known) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: unknown cudaHostAlloc flags "
                          "0x%x", flags);
    }
    return host::allocate(pointer, size, host::Kind::kPinned, flags);
}

int register_host(void *pointer, size_t size, unsigned flags) {
    if (flags & ~kRegisterFlags) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: unknown cudaHostRegister flags "
                          "0x%x", flags);
    }
    return host::register_range(pointer, size, flags);
}

int allocate_managed(void **pointer, size_t size, unsigned flags) {
    bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
    if (!known || !size) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: cudaMallocManaged of %zu bytes "
                          "with flags 0x%x", size, flags);
    }
    return host::allocate(pointer, size, host::Kind::kManaged, flags);
}

int allocate_pitch(void **pointer, size_t *pitch, size_t width,
                   size_t height) {
    if (!pitch) return host::fail(cudaErrorInvalidValue, "NULL pitch");
    *pitch = (width + kPitch - 1) / kPitch * kPitch;
    return host::allocate(pointer, *pitch * height, host::Kind::kDevice);
}

int find_registered(const char *function, const void *pointer,
                    host::Allocation *found) {
    if (host::find_allocation(pointer, found) && !found->on_device()) {
        return 0;
    }
    return host::fail(cudaErrorInvalidValue,
                      "invalid argument: %s of %p, which is no pinned or "
                      "registered host memory", function, pointer);
}

int get_device_pointer(void **device, void *pointer) {
    host::Allocation found;
    if (int status = find_registered("cudaHostGetDevicePointer", pointer,
                                     &found)) {
        return status;
    }
    *device = pointer;
    return 0;
}

cudaMemoryType memory_type(host::Kind kind) {
    switch (kind) {
    case host::Kind::kDevice: return cudaMemoryTypeDevice;
    case host::Kind::kManaged: return cudaMemoryTypeManaged;
    default: return cudaMemoryTypeHost;
    }
}

int pointer_attributes(cudaPointerAttributes *out, const void *pointer) {
    if (!out || !pointer) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: NULL pointer given to "
                          "cudaPointerGetAttributes");
    }
    std::memset(out, 0, sizeof *out);
    host::Allocation found;
    void *address = const_cast<void *>(pointer);
    if (!host::find_allocation(pointer, &found)) {
        out->type = cudaMemoryTypeUnregistered;
        out->device = cudaInvalidDeviceId;
        out->hostPointer = address;
        return 0;
    }
    out->type = memory_type(found.kind);
    out->devicePointer = address;
    if (found.kind != host::Kind::kDevice) out->hostPointer = address;
    return 0;
}

/* Prefetching and advice change nothing here, but a range that is not
 * managed memory is an error as it is on a GPU. */
int check_managed(const char *function, const void *pointer, size_t size) {
    host::Allocation found;
    if (!size || !host::find_allocation(pointer, &found) ||
        found.kind != host::Kind::kManaged) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: %s of %zu bytes at %p, which "
                          "is no managed memory", function, size, pointer);
    }
    return host::check_range(function, pointer, size);
}

#if CUDART_VERSION >= 13000
int check_place(const cudaMemLocation &place) {
    if (place.type == cudaMemLocationTypeDevice) {
        return check_device(place.id);
    }
    if (place.type != cudaMemLocationTypeInvalid) return 0;  // of the host
    return host::fail(cudaErrorInvalidValue,
                      "invalid argument: memory location of type %d",
                      static_cast<int>(place.type));
}
#else
int check_place(int device) {
    return device == cudaCpuDeviceId ? 0 : check_device(device);
}
#endif

template <typename Place>
int prefetch(const void *pointer, size_t size, Place place,
             cudaStream_t stream) {
    if (int status = host::check_stream(stream)) return status;
    if (int status = check_place(place)) return status;
    return check_managed("cudaMemPrefetchAsync", pointer, size);
}

template <typename Place>
int advise(const void *pointer, size_t size, cudaMemoryAdvise advice,
           Place place) {
    if (advice < cudaMemAdviseSetReadMostly ||
        advice > cudaMemAdviseUnsetAccessedBy) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: unknown advice %d",
                          static_cast<int>(advice));
    }
    // Read-mostly is about no place in particular.
    bool placed = advice > cudaMemAdviseUnsetReadMostly;
    if (placed) {
        if (int status = check_place(place)) return status;
    }
    return check_managed("cudaMemAdvise", pointer, size);
}

int copy_async(const char *function, void *dst, const void *src, size_t size,
               cudaStream_t stream) {
    if (int status = host::check_stream(stream)) return status;
    return host::copy(function, dst, src, size);
}

int copy_peer(const char *function, void *dst, int dst_device,
              const void *src, int src_device, size_t size) {
    if (int status = check_device(dst_device)) return status;
    if (int status = check_device(src_device)) return status;
    return host::copy(function, dst, src, size);
}

host::Plane plane(const void *base, size_t pitch, size_t slice = 0) {
    return {static_cast<uint8_t *>(const_cast<void *>(base)), pitch, slice};
}

/* Where a cudaPitchedPtr plus a position (x in bytes) lies. */
host::Plane plane(const cudaPitchedPtr &p, const cudaPos &at) {
    size_t slice = p.pitch * p.ysize;
    host::Plane whole = plane(p.ptr, p.pitch, slice);
    whole.base += at.z * slice + at.y * p.pitch + at.x;
    return whole;
}

int copy_3d(const char *function, const cudaMemcpy3DParms *p) {
    if (!p) return host::fail(cudaErrorInvalidValue, "NULL parameters");
    if (p->srcArray || p->dstArray) {
        return host::fail(cudaErrorNotSupported,
                          "%s with a CUDA array is not implemented on the "
                          "host device", function);
    }
    return host::copy_box(function, plane(p->dstPtr, p->dstPos),
                          plane(p->srcPtr, p->srcPos), p->extent.width,
                          p->extent.height, p->extent.depth);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void **pointer, size_t size) {
    return rt(host::allocate(pointer, size, host::Kind::kDevice));
}

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned flags) {
    return rt(allocate_managed(pointer, size, flags));
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width,
                            size_t height) {
    return rt(allocate_pitch(pointer, pitch, width, height));
}

cudaError_t cudaFree(void *pointer) { return rt(free_synchronised(pointer)); }

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags) {
    return rt(allocate_pinned(pointer, size, flags));
}

cudaError_t cudaMallocHost(void **pointer, size_t size) {
    return rt(allocate_pinned(pointer, size, cudaHostAllocDefault));
}

cudaError_t cudaFreeHost(void *pointer) {
    return rt(host::release(pointer, false));
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags) {
    return rt(register_host(pointer, size, flags));
}

cudaError_t cudaHostUnregister(void *pointer) {
    return rt(host::unregister_range(pointer));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *pointer,
                                     unsigned /*flags*/) {
    return rt(get_device_pointer(device, pointer));
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer) {
    host::Allocation found;
    int status = find_registered("cudaHostGetFlags", pointer, &found);
    *flags = found.flags;
    return rt(status);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    *free = host::free_bytes();
    *total = host::total_bytes();
    return rt(0);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                     const void *pointer) {
    return rt(pointer_attributes(attributes, pointer));
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t size,
                       cudaMemcpyKind) {
    return rt(host::copy("cudaMemcpy", dst, src, size));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size,
                            cudaMemcpyKind, cudaStream_t stream) {
    return rt(copy_async("cudaMemcpyAsync", dst, src, size, stream));
}

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src,
                           int src_device, size_t size) {
    return rt(copy_peer("cudaMemcpyPeer", dst, dst_device, src, src_device,
                        size));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src,
                                int src_device, size_t size,
                                cudaStream_t stream) {
    if (int status = host::check_stream(stream)) return rt(status);
    return rt(copy_peer("cudaMemcpyPeerAsync", dst, dst_device, src,
                        src_device, size));
}

cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src,
                         size_t src_pitch, size_t width, size_t height,
                         cudaMemcpyKind) {
    return rt(host::copy_box("cudaMemcpy2D", plane(dst, dst_pitch),
                             plane(src, src_pitch), width, height, 1));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src,
                              size_t src_pitch, size_t width, size_t height,
                              cudaMemcpyKind, cudaStream_t stream) {
    if (int status = host::check_stream(stream)) return rt(status);
    return rt(host::copy_box("cudaMemcpy2DAsync", plane(dst, dst_pitch),
                             plane(src, src_pitch), width, height, 1));
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *parameters) {
    return rt(copy_3d("cudaMemcpy3D", parameters));
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *parameters,
                              cudaStream_t stream) {
    if (int status = host::check_stream(stream)) return rt(status);
    return rt(copy_3d("cudaMemcpy3DAsync", parameters));
}

cudaError_t cudaMemset(void *pointer, int value, size_t size) {
    return rt(host::fill("cudaMemset", pointer,
                         static_cast<uint32_t>(value), 1, size));
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t size,
                            cudaStream_t stream) {
    if (int status = host::check_stream(stream)) return rt(status);
    return rt(host::fill("cudaMemsetAsync", pointer,
                         static_cast<uint32_t>(value), 1, size));
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value,
                         size_t width, size_t height) {
    return rt(host::fill_box("cudaMemset2D", plane(pointer, pitch),
                             static_cast<uint32_t>(value), 1, width, height,
                             1));
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size,
                                 cudaMemLocation place, unsigned /*flags*/,
                                 cudaStream_t stream) {
    return rt(prefetch(pointer, size, place, stream));
}

cudaError_t cudaMemAdvise(const void *pointer, size_t size,
                          cudaMemoryAdvise advice, cudaMemLocation place) {
    return rt(advise(pointer, size, advice, place));
}
#else
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int place,
                                 cudaStream_t stream) {
    return rt(prefetch(pointer, size, place, stream));
}

cudaError_t cudaMemAdvise(const void *pointer, size_t size,
                          cudaMemoryAdvise advice, int place) {
    return rt(advise(pointer, size, advice, place));
}
#endif

}  // extern "C"
