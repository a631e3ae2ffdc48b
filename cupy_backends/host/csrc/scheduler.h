/* Runs one block of a phase kernel: barriers, warp operations, divergence.
 */
#ifndef CUPY_HOST_SCHEDULER_H_
#define CUPY_HOST_SCHEDULER_H_

#include <atomic>
#include <cstddef>

#include <atomic>
#include <cstddef>

#include "kernel_abi.h"

namespace host {

/* Memory that a worker keeps for its blocks, grown when needed. */
struct Scratch {
    /* Shared memory and frames of a block; 128-byte aligned. */
    uint8_t *shared(size_t bytes) { return grow(&shared_, bytes); }
    uint8_t *frames(size_t bytes) { return grow(&frames_, bytes); }
    uint8_t *warps(size_t bytes) { return grow(&warps_, bytes); }
    ~Scratch();

private:
    struct Buffer {
        uint8_t *data = nullptr;
        size_t size = 0;
    };
    static uint8_t *grow(Buffer *buffer, size_t bytes);
    Buffer shared_, frames_, warps_;
};

/* The calling thread's; throws std::bad_alloc when memory is short. */
Scratch &scratch();

/* Runs the block that block->ctaid names to its end.  On a fault
 * block->fault is set (a deadlock is recorded with its details).  A block
 * that waits for others gives up when `cancelled` says that one of them
 * failed. */
void run_block(const hd_kernel &, const hd_launch &, hd_block *,
               const std::atomic<bool> &cancelled);

}  // namespace host

#endif
