/* Runtime API, chapter "Stream Ordered Memory Allocator".
 *
 * Streams complete at once, so an allocation is usable and a freed one
 * reusable immediately.  A pool keeps freed blocks up to its release
 * threshold and hands them out again for requests of about their size. */
#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "allocation.h"
#include "attributes.h"
#include "error.h"
#include "handles.h"
#include "mempool.h"
#include "stream.h"

namespace {

using host::check_device;

// Sizes are rounded so that freed blocks fit later requests of similar size.
constexpr size_t kRound = 512;

size_t rounded(size_t size) { return (size + kRound - 1) / kRound * kRound; }

class MemPool {
public:
    int allocate(void **out, size_t size);
    int free(void *pointer, size_t size);
    void trim(size_t keep);
    int get(cudaMemPoolAttr attribute, void *value);
    int set(cudaMemPoolAttr attribute, void *value);

private:
    void count(size_t allocated);
    size_t reserved() const { return used_ + cached_; }
    void trim_locked(size_t keep);

    std::mutex mutex_;
    std::multimap<size_t, void *> blocks_;  // freed, by size
    size_t used_ = 0, cached_ = 0, used_high_ = 0, reserved_high_ = 0;
    uint64_t threshold_ = 0;
    int reuse_[3] = {1, 1, 1};  // the cudaMemPoolReuse* switches
};

void MemPool::count(size_t allocated) {
    used_ += allocated;
    used_high_ = std::max(used_high_, used_);
    reserved_high_ = std::max(reserved_high_, reserved());
}

int MemPool::allocate(void **out, size_t size) {
    if (!out || !size) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: asynchronous allocation of "
                          "%zu bytes", size);
    }
    size = rounded(size);
    std::lock_guard<std::mutex> lock(mutex_);
    auto block = blocks_.find(size);
    if (block != blocks_.end()) {
        *out = block->second;
        blocks_.erase(block);
        cached_ -= size;
    } else {
        auto kind = host::Kind::kDevice;
        int status = host::allocate(out, size, kind, 0, this);
        if (status) {
            trim_locked(0);  // give back what others could use, once
            status = host::allocate(out, size, kind, 0, this);
        }
        if (status) return status;
    }
    count(size);
    return 0;
}

int MemPool::free(void *pointer, size_t size) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = blocks_.lower_bound(size);
         it != blocks_.end() && it->first == size; ++it) {
        if (it->second != pointer) continue;
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: %p was freed before", pointer);
    }
    used_ -= size;
    cached_ += size;
    blocks_.emplace(size, pointer);
    if (reserved() > threshold_) trim_locked(threshold_);
    return 0;
}

void MemPool::trim(size_t keep) {
    std::lock_guard<std::mutex> lock(mutex_);
    trim_locked(keep);
}

void MemPool::trim_locked(size_t keep) {
    while (!blocks_.empty() && reserved() > keep) {
        auto largest = std::prev(blocks_.end());
        cached_ -= largest->first;
        host::release(largest->second, true);
        blocks_.erase(largest);
    }
}

int unknown_attribute(int attribute) {
    return host::fail(cudaErrorInvalidValue,
                      "invalid argument: memory pool attribute %d is not "
                      "known to the host device", attribute);
}

int MemPool::get(cudaMemPoolAttr attribute, void *value) {
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t *wide = static_cast<uint64_t *>(value);
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int *>(value) = reuse_[attribute - 1];
        return 0;
    case cudaMemPoolAttrReleaseThreshold: *wide = threshold_; return 0;
    case cudaMemPoolAttrReservedMemCurrent: *wide = reserved(); return 0;
    case cudaMemPoolAttrReservedMemHigh: *wide = reserved_high_; return 0;
    case cudaMemPoolAttrUsedMemCurrent: *wide = used_; return 0;
    case cudaMemPoolAttrUsedMemHigh: *wide = used_high_; return 0;
    default: return unknown_attribute(attribute);
    }
}

/* CUDA lets the high-water marks be set to zero only: they restart. */
int MemPool::set(cudaMemPoolAttr attribute, void *value) {
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t wide;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        reuse_[attribute - 1] = *static_cast<int *>(value);
        return 0;
    case cudaMemPoolAttrReleaseThreshold:
        threshold_ = *static_cast<uint64_t *>(value);
        return 0;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        wide = *static_cast<uint64_t *>(value);
        if (wide) {
            return host::fail(cudaErrorInvalidValue,
                              "invalid argument: a high-water mark can only "
                              "be set to 0");
        }
        (attribute == cudaMemPoolAttrUsedMemHigh ? used_high_
                                                 : reserved_high_) =
            attribute == cudaMemPoolAttrUsedMemHigh ? used_ : reserved();
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
    if (int status = pools.find(pool, &found)) return status;
    return found->allocate(out, size);
}

int free_async(void *pointer, cudaStream_t stream) {
    if (int status = host::check_stream(stream)) return status;
    return host::free_device(pointer);
}

int destroy(cudaMemPool_t pool) {
    MemPool *found;
    if (int status = pools.find(pool, &found)) return status;
    if (found == default_pool()) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: the default memory pool cannot "
                          "be destroyed");
    }
    MemPool *expected = found;
    current_pool.compare_exchange_strong(expected, nullptr);
    found->trim(0);
    host::forget_pool(found);
    return pools.destroy(pool);
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
    if (int status = pools.find(pool, &found)) return status;
    current_pool.store(found);
    return 0;
}

}  // namespace

int host::free_device(void *pointer) {
    host::Allocation found;
    MemPool *pool = nullptr;
    if (pointer && host::find_allocation(pointer, &found) && found.pool &&
        found.base == reinterpret_cast<uintptr_t>(pointer) &&
        pools.find(found.pool, &pool) == 0) {
        return pool->free(pointer, found.size);
    }
    return host::release(pointer, true);
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
    if (int status = pools.find(pool, &found)) return rt(status);
    found->trim(keep);
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool,
                                    cudaMemPoolAttr attribute,
                                    void *value) {
    MemPool *found;
    if (int status = pools.find(pool, &found)) return rt(status);
    return rt(found->get(attribute, value));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool,
                                    cudaMemPoolAttr attribute,
                                    void *value) {
    MemPool *found;
    if (int status = pools.find(pool, &found)) return rt(status);
    return rt(found->set(attribute, value));
}

}  // extern "C"
