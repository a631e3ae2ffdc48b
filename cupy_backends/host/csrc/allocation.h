/* The record of all memory that the host device handed out. */
#ifndef CUPY_HOST_ALLOCATION_H_
#define CUPY_HOST_ALLOCATION_H_

#include <cstddef>
#include <cstdint>

namespace host {

enum class Kind : uint8_t { kDevice, kManaged, kPinned, kRegistered };

struct Allocation {
    uintptr_t base = 0;
    size_t size = 0;
    Kind kind = Kind::kDevice;
    unsigned flags = 0;        // of cudaHostAlloc, cudaHostRegister, ...
    uint64_t id = 0;           // CU_POINTER_ATTRIBUTE_BUFFER_ID
    const void *pool = nullptr;  // memory pool it came from

    bool on_device() const {
        return kind == Kind::kDevice || kind == Kind::kManaged;
    }
};

/* Allocates and records; zero bytes give NULL.  Alignment is 512 bytes, as
 * CuPy's pool expects of the driver.
 * Returns cudaErrorMemoryAllocation when it would not fit into memory. */
int allocate(void **out, size_t size, Kind kind, unsigned flags = 0,
             const void *pool = nullptr);

/* Frees what allocate() returned; `device` says which of the two families
 * (device, host) the caller is of.  NULL is fine. */
int release(void *pointer, bool device);

/* Records memory of the user as registered (cudaHostRegister). */
int register_range(void *pointer, size_t size, unsigned flags);
int unregister_range(void *pointer);

/* Finds the allocation that holds the address. */
bool find_allocation(const void *pointer, Allocation *out);

/* Fails if [pointer, pointer + size) starts in a known allocation and does
 * not end in it, or if pointer is NULL and size is not zero. */
int check_range(const char *function, const void *pointer, size_t size);

/* Bytes handed out now / bytes the device claims to have / free. */
size_t allocated_bytes();
size_t total_bytes();
size_t free_bytes();

/* fork(): held while the process is copied.  The child cannot unlock: the
 * lock knows its writer by the thread's number, which is another one there. */
void lock_allocations();
void unlock_allocations();
void renew_allocations_lock();

}  // namespace host

#endif
