#include "allocation.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "error.h"
#include "system_memory.h"

namespace host {
namespace {

constexpr size_t kAlignment = 512;
constexpr size_t kHugePage = size_t{2} << 20;
// Asking the system for its free memory takes some microseconds; below this
// size an allocation is not worth it.
constexpr size_t kCheckedSize = size_t{16} << 20;

/* Leaked on purpose: memory may be freed while the process exits. */
struct Registry {
    std::shared_mutex mutex;
    std::map<uintptr_t, Allocation> ranges;
    size_t bytes = 0;
    uint64_t next_id = 1;
};

Registry &registry() {
    static Registry *instance = new Registry;
    return *instance;
}

/* The allocation that holds `address`, or end(). */
std::map<uintptr_t, Allocation>::iterator find(Registry &r,
                                               uintptr_t address) {
    auto it = r.ranges.upper_bound(address);
    if (it == r.ranges.begin()) return r.ranges.end();
    --it;
    size_t size = std::max<size_t>(it->second.size, 1);
    return address - it->first < size ? it : r.ranges.end();
}

bool fits(size_t size) {
    size_t used = allocated_bytes();
    if (size > total_bytes() || used > total_bytes() - size) return false;
    return size < kCheckedSize || size <= system_available();
}

void *raw_allocate(size_t size) {
    void *pointer = nullptr;
    // Whole units, as on a GPU: a kernel that writes some elements past the
    // end of an array does no harm there.
    size = (size + kAlignment - 1) / kAlignment * kAlignment;
    size_t alignment = size >= 2 * kHugePage ? kHugePage : kAlignment;
    if (posix_memalign(&pointer, alignment, size)) return nullptr;
    // First touch of a big array costs a page fault for each page.
    if (alignment == kHugePage) madvise(pointer, size, MADV_HUGEPAGE);
    return pointer;
}

void record(Allocation allocation) {
    Registry &r = registry();
    std::unique_lock<std::shared_mutex> lock(r.mutex);
    allocation.id = r.next_id++;
    if (allocation.kind != Kind::kRegistered) r.bytes += allocation.size;
    r.ranges[allocation.base] = allocation;
}

int out_of_memory(size_t size) {
    return fail(cudaErrorMemoryAllocation,
                "out of memory: %zu bytes asked for, %zu of %zu bytes free "
                "on the host device", size, free_bytes(), total_bytes());
}

}  // namespace

int allocate(void **out, size_t size, Kind kind, unsigned flags,
             const void *pool) {
    if (!out) return fail(cudaErrorInvalidValue, "NULL result pointer");
    *out = nullptr;
    if (size == 0) return 0;
    if (!fits(size)) return out_of_memory(size);
    void *pointer = raw_allocate(size);
    if (!pointer) return out_of_memory(size);
    Allocation allocation;
    allocation.base = reinterpret_cast<uintptr_t>(pointer);
    allocation.size = size;
    allocation.kind = kind;
    allocation.flags = flags;
    allocation.pool = pool;
    record(allocation);
    *out = pointer;
    return 0;
}

int release(void *pointer, bool device) {
    if (!pointer) return 0;
    Registry &r = registry();
    {
        std::unique_lock<std::shared_mutex> lock(r.mutex);
        auto it = r.ranges.find(reinterpret_cast<uintptr_t>(pointer));
        bool known = it != r.ranges.end() &&
                     it->second.kind != Kind::kRegistered &&
                     it->second.on_device() == device;
        if (!known) {
            return fail(cudaErrorInvalidValue,
                        "invalid argument: %p is not the start of %s memory "
                        "of the host device", pointer,
                        device ? "device" : "pinned host");
        }
        r.bytes -= it->second.size;
        r.ranges.erase(it);
    }
    std::free(pointer);
    return 0;
}

int register_range(void *pointer, size_t size, unsigned flags) {
    if (!pointer || !size) {
        return fail(cudaErrorInvalidValue,
                    "invalid argument: cannot register %zu bytes at %p",
                    size, pointer);
    }
    Allocation found;
    uintptr_t base = reinterpret_cast<uintptr_t>(pointer);
    char *last = static_cast<char *>(pointer) + size - 1;
    if (find_allocation(pointer, &found) || find_allocation(last, &found)) {
        return fail_text(cudaErrorHostMemoryAlreadyRegistered, "");
    }
    Allocation allocation;
    allocation.base = base;
    allocation.size = size;
    allocation.kind = Kind::kRegistered;
    allocation.flags = flags;
    record(allocation);
    return 0;
}

int unregister_range(void *pointer) {
    Registry &r = registry();
    std::unique_lock<std::shared_mutex> lock(r.mutex);
    auto it = r.ranges.find(reinterpret_cast<uintptr_t>(pointer));
    if (it == r.ranges.end() || it->second.kind != Kind::kRegistered) {
        return fail_text(cudaErrorHostMemoryNotRegistered, "");
    }
    r.ranges.erase(it);
    return 0;
}

bool find_allocation(const void *pointer, Allocation *out) {
    Registry &r = registry();
    std::shared_lock<std::shared_mutex> lock(r.mutex);
    auto it = find(r, reinterpret_cast<uintptr_t>(pointer));
    if (it == r.ranges.end()) return false;
    *out = it->second;
    return true;
}

int check_range(const char *function, const void *pointer, size_t size) {
    if (size == 0) return 0;
    if (!pointer) {
        return fail(cudaErrorInvalidValue,
                    "invalid argument: NULL pointer given to %s", function);
    }
    Allocation found;
    if (!find_allocation(pointer, &found)) return 0;
    size_t offset = reinterpret_cast<uintptr_t>(pointer) - found.base;
    if (size <= found.size - offset) return 0;
    return fail(cudaErrorInvalidValue,
                "invalid argument: %s of %zu bytes at %p runs over the end "
                "of an allocation of %zu bytes (offset %zu)",
                function, size, pointer, found.size, offset);
}

size_t allocated_bytes() {
    Registry &r = registry();
    std::shared_lock<std::shared_mutex> lock(r.mutex);
    return r.bytes;
}

size_t total_bytes() { return system_total(); }

size_t free_bytes() {
    size_t left = total_bytes() - std::min(total_bytes(), allocated_bytes());
    return std::min(left, system_available());
}

void lock_allocations() { registry().mutex.lock(); }
void unlock_allocations() { registry().mutex.unlock(); }
void renew_allocations_lock() { new (&registry().mutex) std::shared_mutex; }

}  // namespace host
