/* Runtime API, chapter "Stream Ordered Memory Allocator".
 *
 * Streams complete at once, so an allocation is usable and a freed one
 * reusable immediately.  What a pool keeps beyond its release threshold goes
 * back to the system when something synchronises. */
#include "mempool.h"

#include "allocation.h"
#include "attributes.h"
#include "block_pool.h"
#include "error.h"
#include "handles.h"
#include "stream.h"

namespace {

using host::check_device;

/* The attributes of cudaMemPool_t around the memory itself. */
class MemPool {
public:
    int get(cudaMemPoolAttr attribute, void *value);
    int set(cudaMemPoolAttr attribute, void *value);
    void trim_to_threshold() { memory.trim(threshold_); }

    host::BlockPool memory{this};
    // Destroyed, but there is memory of it in use.
    std::atomic<bool> retired{false};

private:
    int *reuse(cudaMemPoolAttr attribute) { return &reuse_[attribute - 1]; }

    std::atomic<uint64_t> threshold_{0};
    int reuse_[3] = {1, 1, 1};  // the cudaMemPoolReuse* switches
};

int unknown_attribute(int attribute) {
    return host::fail(cudaErrorInvalidValue,
                      "invalid argument: memory pool attribute %d is not "
                      "known to the host device", attribute);
}

int MemPool::get(cudaMemPoolAttr attribute, void *value) {
    uint64_t *wide = static_cast<uint64_t *>(value);
    host::PoolUsage usage = memory.usage();
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int *>(value) = *reuse(attribute);
        return 0;
    case cudaMemPoolAttrReleaseThreshold: *wide = threshold_; return 0;
    case cudaMemPoolAttrReservedMemCurrent: *wide = usage.reserved; return 0;
    case cudaMemPoolAttrReservedMemHigh: *wide = usage.reserved_high; return 0;
    case cudaMemPoolAttrUsedMemCurrent: *wide = usage.used; return 0;
    case cudaMemPoolAttrUsedMemHigh: *wide = usage.used_high; return 0;
    default: return unknown_attribute(attribute);
    }
}

/* CUDA lets the high-water marks be set to zero only: they restart. */
int check_zero(const void *value) {
    if (*static_cast<const uint64_t *>(value) == 0) return 0;
    return host::fail(cudaErrorInvalidValue,
                      "invalid argument: a high-water mark can only be set "
                      "to 0");
}

int MemPool::set(cudaMemPoolAttr attribute, void *value) {
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *reuse(attribute) = *static_cast<int *>(value);
        return 0;
    case cudaMemPoolAttrReleaseThreshold:
        threshold_ = *static_cast<uint64_t *>(value);
        return 0;
    case cudaMemPoolAttrReservedMemHigh:
        if (int status = check_zero(value)) return status;
        memory.reset_reserved_high();
        return 0;
    case cudaMemPoolAttrUsedMemHigh:
        if (int status = check_zero(value)) return status;
        memory.reset_used_high();
        return 0;
    default: return unknown_attribute(attribute);
    }
}

host::Handles<MemPool> pools("memory pool");

MemPool *default_pool() {
    static MemPool *pool = pools.create();
    return pool;
}

std::atomic<MemPool *> current_pool{nullptr};

/* A pool by its handle; one that was destroyed is not found any more. */
int find_pool(const void *pool, MemPool **out) {
    if (int status = pools.find(pool, out)) return status;
    if (!(*out)->retired) return 0;
    return host::fail(cudaErrorInvalidResourceHandle,
                      "invalid resource handle: the memory pool %p was "
                      "destroyed", pool);
}

/* CUDA: a destroyed pool goes when nothing of it is in use any more. */
void drop_if_unused(MemPool *pool) {
    if (pool->retired && !pool->memory.usage().used) pools.destroy(pool);
}

MemPool *current() {
    MemPool *pool = current_pool.load();
    return pool ? pool : default_pool();
}

cudaMemPool_t handle(MemPool *pool) {
    return reinterpret_cast<cudaMemPool_t>(pool);
}

int allocate_from(void **out, size_t size, cudaMemPool_t pool,
                  cudaStream_t stream) {
    MemPool *found;
    if (int status = host::check_stream(stream)) return status;
    if (int status = find_pool(pool, &found)) return status;
    return found->memory.allocate(out, size);
}

int free_async(void *pointer, cudaStream_t stream) {
    if (int status = host::check_stream(stream)) return status;
    return host::free_device(pointer);
}

int destroy(cudaMemPool_t pool) {
    MemPool *found;
    if (int status = find_pool(pool, &found)) return status;
    if (found == default_pool()) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: the default memory pool cannot "
                          "be destroyed");
    }
    MemPool *expected = found;
    current_pool.compare_exchange_strong(expected, nullptr);
    found->retired = true;
    drop_if_unused(found);
    return 0;
}

int create(cudaMemPool_t *out, const cudaMemPoolProps *properties) {
    if (!out || !properties) {
        return host::fail(cudaErrorInvalidValue, "NULL argument");
    }
    if (properties->handleTypes != cudaMemHandleTypeNone) {
        return host::fail(cudaErrorNotSupported,
                          "cudaMemPoolCreate with an exportable handle type "
                          "is not implemented on the host device");
    }
    if (properties->location.type == cudaMemLocationTypeDevice) {
        int status = check_device(properties->location.id);
        if (status) return status;
    }
    *out = handle(pools.create());
    return 0;
}

int get_pool(cudaMemPool_t *out, int device, MemPool *pool) {
    if (int status = check_device(device)) return status;
    *out = handle(pool);
    return 0;
}

int set_pool(int device, cudaMemPool_t pool) {
    MemPool *found;
    if (int status = check_device(device)) return status;
    if (int status = find_pool(pool, &found)) return status;
    current_pool.store(found);
    return 0;
}

}  // namespace

int host::free_device(void *pointer) {
    host::Allocation found;
    MemPool *pool = nullptr;
    if (pointer && host::find_allocation(pointer, &found) && found.pool &&
        pools.find(found.pool, &pool) == 0) {
        int status = pool->memory.free(pointer);
        if (!status) drop_if_unused(pool);
        return status;
    }
    return host::release(pointer, true);
}

void host::trim_pools() {
    pools.for_each([](MemPool *pool) { pool->trim_to_threshold(); });
}

using host::rt;

extern "C" {

cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t stream) {
    return rt(allocate_from(out, size, handle(current()), stream));
}

cudaError_t cudaMallocFromPoolAsync(void **out, size_t size,
                                    cudaMemPool_t pool,
                                    cudaStream_t stream) {
    return rt(allocate_from(out, size, pool, stream));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    return rt(free_async(pointer, stream));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device) {
    return rt(get_pool(out, device, default_pool()));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device) {
    return rt(get_pool(out, device, current()));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return rt(set_pool(device, pool));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *out,
                              const cudaMemPoolProps *properties) {
    return rt(create(out, properties));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return rt(destroy(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
    MemPool *found;
    if (int status = find_pool(pool, &found)) return rt(status);
    found->memory.trim(keep);
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool,
                                    cudaMemPoolAttr attribute,
                                    void *value) {
    MemPool *found;
    if (int status = find_pool(pool, &found)) return rt(status);
    return rt(found->get(attribute, value));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool,
                                    cudaMemPoolAttr attribute,
                                    void *value) {
    MemPool *found;
    if (int status = find_pool(pool, &found)) return rt(status);
    return rt(found->set(attribute, value));
}

}  // extern "C"
