/* Driver API, chapters "Memory Management" and "Unified Addressing". */
#include <cstring>

#include "allocation.h"
#include "context.h"
#include "copy.h"
#include "error.h"
#include "stream.h"

using host::cu;

namespace {

void *address(CUdeviceptr pointer) {
    return reinterpret_cast<void *>(pointer);
}

int copy_in(CUstream stream, const char *function, void *dst,
            const void *src, size_t size) {
    if (int status = host::check_stream(stream)) return status;
    return host::copy(function, dst, src, size);
}

int fill_in(CUstream stream, const char *function, CUdeviceptr dst,
            uint32_t value, size_t element, size_t count) {
    if (int status = host::check_stream(stream)) return status;
    return host::fill(function, address(dst), value, element, count);
}

int fill_2d(const char *function, CUdeviceptr dst, size_t pitch,
            uint32_t value, size_t element, size_t width, size_t height) {
    host::Plane plane{static_cast<uint8_t *>(address(dst)), pitch, 0};
    return host::fill_box(function, plane, value, element, width, height, 1);
}

int allocate(CUdeviceptr *out, size_t size) {
    void *pointer = nullptr;
    if (!out || !size) {
        return host::fail(CUDA_ERROR_INVALID_VALUE,
                          "invalid argument: cuMemAlloc of %zu bytes", size);
    }
    int status = host::allocate(&pointer, size, host::Kind::kDevice);
    *out = reinterpret_cast<CUdeviceptr>(pointer);
    return status;
}

int allocate_managed(CUdeviceptr *out, size_t size, unsigned flags) {
    void *pointer = nullptr;
    int status = cudaMallocManaged(&pointer, size, flags);
    *out = reinterpret_cast<CUdeviceptr>(pointer);
    return status;
}

int unknown_pointer(CUdeviceptr pointer) {
    return host::fail(CUDA_ERROR_INVALID_VALUE,
                      "invalid argument: %p is no memory of the host device",
                      address(pointer));
}

int address_range(CUdeviceptr *base, size_t *size, CUdeviceptr pointer) {
    host::Allocation found;
    if (!host::find_allocation(address(pointer), &found)) {
        return unknown_pointer(pointer);
    }
    if (base) *base = found.base;
    if (size) *size = found.size;
    return 0;
}

unsigned memory_type(const host::Allocation &found) {
    return found.on_device() ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

template <typename T>
int store(void *out, T value) {
    std::memcpy(out, &value, sizeof value);
    return 0;
}

int pointer_attribute(void *out, CUpointer_attribute attribute,
                      CUdeviceptr pointer) {
    host::Allocation found;
    if (!host::find_allocation(address(pointer), &found)) {
        return unknown_pointer(pointer);
    }
    bool managed = found.kind == host::Kind::kManaged;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return store(out, host::current_context());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return store(out, memory_type(found));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return store(out, pointer);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return store(out, static_cast<unsigned long long>(found.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return store(out, static_cast<unsigned>(managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return store(out, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return store(out, found.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return store(out, found.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return store(out, 1);
    default:
        return host::fail(CUDA_ERROR_NOT_SUPPORTED,
                          "pointer attribute %d is not implemented on the "
                          "host device", static_cast<int>(attribute));
    }
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    return cu(cudaMemGetInfo(free, total));
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size) {
    return cu(allocate(out, size));
}

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags) {
    return cu(allocate_managed(out, size, flags));
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    return cu(cudaFree(address(pointer)));
}

CUresult cuMemAllocHost_v2(void **out, size_t size) {
    return cu(cudaMallocHost(out, size));
}

CUresult cuMemHostAlloc(void **out, size_t size, unsigned flags) {
    return cu(cudaHostAlloc(out, size, flags));
}

CUresult cuMemFreeHost(void *pointer) { return cu(cudaFreeHost(pointer)); }

CUresult cuMemHostRegister_v2(void *pointer, size_t size, unsigned flags) {
    return cu(cudaHostRegister(pointer, size, flags));
}

CUresult cuMemHostUnregister(void *pointer) {
    return cu(cudaHostUnregister(pointer));
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *pointer,
                                      unsigned flags) {
    void *device = nullptr;
    int status = cudaHostGetDevicePointer(&device, pointer, flags);
    *out = reinterpret_cast<CUdeviceptr>(device);
    return cu(status);
}

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer) {
    return cu(cudaHostGetFlags(flags, pointer));
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size,
                                 CUdeviceptr pointer) {
    return cu(address_range(base, size, pointer));
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream stream) {
    void *pointer = nullptr;
    int status = cudaMallocAsync(&pointer, size, stream);
    *out = reinterpret_cast<CUdeviceptr>(pointer);
    return cu(status);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    return cu(cudaFreeAsync(address(pointer), stream));
}

CUresult cuPointerGetAttribute(void *out, CUpointer_attribute attribute,
                               CUdeviceptr pointer) {
    return cu(pointer_attribute(out, attribute, pointer));
}

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t size) {
    return cu(host::copy(__func__, address(dst), address(src), size));
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size,
                       CUstream stream) {
    return cu(copy_in(stream, __func__, address(dst), address(src), size));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t size) {
    return cu(host::copy(__func__, address(dst), src, size));
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size,
                              CUstream stream) {
    return cu(copy_in(stream, __func__, address(dst), src, size));
}

CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t size) {
    return cu(host::copy(__func__, dst, address(src), size));
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size,
                              CUstream stream) {
    return cu(copy_in(stream, __func__, dst, address(src), size));
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t size) {
    return cu(host::copy(__func__, address(dst), address(src), size));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size,
                              CUstream stream) {
    return cu(copy_in(stream, __func__, address(dst), address(src), size));
}

CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t count) {
    return cu(host::fill(__func__, address(dst), value, 1, count));
}

CUresult cuMemsetD16_v2(CUdeviceptr dst, unsigned short value,
                        size_t count) {
    return cu(host::fill(__func__, address(dst), value, 2, count));
}

CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned value, size_t count) {
    return cu(host::fill(__func__, address(dst), value, 4, count));
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count,
                         CUstream stream) {
    return cu(fill_in(stream, __func__, dst, value, 1, count));
}

CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value,
                          size_t count, CUstream stream) {
    return cu(fill_in(stream, __func__, dst, value, 2, count));
}

CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count,
                          CUstream stream) {
    return cu(fill_in(stream, __func__, dst, value, 4, count));
}

CUresult cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char value,
                         size_t width, size_t height) {
    return cu(fill_2d(__func__, dst, pitch, value, 1, width, height));
}

CUresult cuMemsetD2D32_v2(CUdeviceptr dst, size_t pitch, unsigned value,
                          size_t width, size_t height) {
    return cu(fill_2d(__func__, dst, pitch, value, 4, width, height));
}

}  // extern "C"
