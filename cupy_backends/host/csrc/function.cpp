/* Driver API, "Execution Control" (function attributes) and "Occupancy". */
#include <algorithm>
#include <cstring>

#include "attributes.h"
#include "error.h"
#include "module.h"

using host::cu;
using host::find_function;
using host::Function;

namespace {

// PTX and binary version in the form of the attributes: 10 * major + minor.
constexpr int kArchitecture = 10 * host::kComputeMajor + host::kComputeMinor;

// A kernel has no machine registers here; this stands in when the
// translator does not count the virtual ones, for those who divide by it.
constexpr int kUnknownRegisters = 32;

int max_threads(const Function &function) {
    uint32_t limit = function.kernel->max_threads_per_block;
    return limit ? static_cast<int>(limit) : host::kMaxThreadsPerBlock;
}

int registers(const Function &function) {
    uint32_t n = function.kernel->n_registers;
    return n ? static_cast<int>(std::min(n, 255u)) : kUnknownRegisters;
}

int unknown_attribute(int attribute) {
    return host::fail(CUDA_ERROR_INVALID_VALUE,
                      "invalid argument: function attribute %d is not known "
                      "to the host device", attribute);
}

int get_attribute(int *value, int attribute, const void *handle) {
    Function *f;
    if (!value) return host::fail(CUDA_ERROR_INVALID_VALUE, "NULL result");
    if (int status = find_function(handle, &f)) return status;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = max_threads(*f);
        return 0;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = static_cast<int>(f->kernel->static_shared);
        return 0;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = static_cast<int>(f->kernel->local_bytes);
        return 0;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = registers(*f);
        return 0;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = kArchitecture;
        return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = f->max_dynamic_shared;
        return 0;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = -1;  // the driver's default
        return 0;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        return 0;
    default:
        return unknown_attribute(attribute);
    }
}

int set_dynamic_shared(Function *f, int value) {
    int limit = host::kSharedPerBlockOptin -
                static_cast<int>(f->kernel->static_shared);
    if (value < 0 || value > limit) {
        return host::fail(CUDA_ERROR_INVALID_VALUE,
                          "invalid argument: %d bytes of dynamic shared "
                          "memory for kernel %s; the limit is %d", value,
                          f->kernel->name, limit);
    }
    f->max_dynamic_shared = value;
    return 0;
}

int set_attribute(const void *handle, int attribute, int value) {
    Function *f;
    if (int status = find_function(handle, &f)) return status;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return set_dynamic_shared(f, value);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return 0;  // a hint about caches
    default:
        return unknown_attribute(attribute);
    }
}

/* As many blocks as the figures of the device allow at a time. */
int blocks_per_sm(const Function &f, int block_size, size_t dynamic_shared) {
    size_t shared = f.kernel->static_shared + dynamic_shared;
    if (block_size < 1 || block_size > max_threads(f) ||
        shared > static_cast<size_t>(host::kSharedPerBlockOptin)) {
        return 0;
    }
    int rounded = (block_size + 31) / 32 * 32;
    int blocks = std::min(host::kMaxBlocksPerSM,
                          host::kMaxThreadsPerSM / rounded);
    size_t with_reserve = shared + 1024;  // the system's part of each block
    return std::min(blocks,
                    static_cast<int>(host::kSharedPerSM / with_reserve));
}

int max_active_blocks(int *blocks, const void *handle, int block_size,
                      size_t dynamic_shared) {
    Function *f;
    if (!blocks) return host::fail(CUDA_ERROR_INVALID_VALUE, "NULL result");
    if (int status = find_function(handle, &f)) return status;
    if (block_size < 1) {
        return host::fail(CUDA_ERROR_INVALID_VALUE,
                          "invalid argument: block size %d", block_size);
    }
    *blocks = blocks_per_sm(*f, block_size, dynamic_shared);
    return 0;
}

/* The largest of the block sizes that keep most threads running. */
int best_block_size(int *grid, int *block, const void *handle,
                    CUoccupancyB2DSize size_of, size_t dynamic_shared,
                    int limit) {
    Function *f;
    if (int status = find_function(handle, &f)) return status;
    int largest = max_threads(*f);
    if (limit > 0) largest = std::min(largest, limit);
    int best = 0, best_blocks = 0;
    for (int size = largest; size > 0;
         size = size % 32 ? size - size % 32 : size - 32) {
        size_t shared = size_of ? size_of(size) : dynamic_shared;
        int blocks = blocks_per_sm(*f, size, shared);
        if (blocks * size > best_blocks * best) {
            best = size;
            best_blocks = blocks;
        }
    }
    int processors = 0;
    host::device_attribute(cudaDevAttrMultiProcessorCount, &processors);
    *grid = best_blocks * processors;
    *block = best;
    return 0;
}

int parameter_info(const void *handle, size_t index, size_t *offset,
                   size_t *size) {
    Function *f;
    if (int status = find_function(handle, &f)) return status;
    if (index >= f->kernel->n_params) {
        return host::fail(CUDA_ERROR_INVALID_VALUE,
                          "invalid argument: kernel %s has %u parameters",
                          f->kernel->name, f->kernel->n_params);
    }
    if (offset) *offset = f->kernel->param_offset[index];
    if (size) *size = f->kernel->param_size[index];
    return 0;
}

int get_name(const char **name, const void *handle) {
    Function *f;
    if (int status = find_function(handle, &f)) return status;
    *name = f->kernel->name;
    return 0;
}

}  // namespace

extern "C" {

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                            CUfunction f) {
    return cu(get_attribute(value, attribute, f));
}

CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute,
                            int value) {
    return cu(set_attribute(f, attribute, value));
}

CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache) {
    Function *found;  // a hint about caches
    return cu(find_function(f, &found));
}

CUresult cuFuncGetName(const char **name, CUfunction f) {
    return cu(get_name(name, f));
}

CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset,
                            size_t *size) {
    return cu(parameter_info(f, index, offset, size));
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute,
                              CUkernel kernel, CUdevice device) {
    if (int status = host::check_device(device)) return cu(status);
    return cu(get_attribute(value, attribute, kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value,
                              CUkernel kernel, CUdevice device) {
    if (int status = host::check_device(device)) return cu(status);
    return cu(set_attribute(kernel, attribute, value));
}

CUresult cuKernelGetName(const char **name, CUkernel kernel) {
    return cu(get_name(name, kernel));
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset,
                              size_t *size) {
    return cu(parameter_info(kernel, index, offset, size));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                     CUfunction f,
                                                     int block_size,
                                                     size_t shared) {
    return cu(max_active_blocks(blocks, f, block_size, shared));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, CUfunction f, int block_size, size_t shared,
    unsigned /*flags*/) {
    return cu(max_active_blocks(blocks, f, block_size, shared));
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block,
                                          CUfunction f,
                                          CUoccupancyB2DSize size_of,
                                          size_t shared, int limit) {
    return cu(best_block_size(grid, block, f, size_of, shared, limit));
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *grid, int *block, CUfunction f, CUoccupancyB2DSize size_of,
    size_t shared, int limit, unsigned /*flags*/) {
    return cu(best_block_size(grid, block, f, size_of, shared, limit));
}

}  // extern "C"
