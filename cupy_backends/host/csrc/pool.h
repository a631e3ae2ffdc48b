/* Threads that run the blocks of a grid. */
#ifndef CUPY_HOST_POOL_H_
#define CUPY_HOST_POOL_H_

#include <atomic>
#include <cstdint>

namespace host {

/* Work split into `total` items, given out in order and in chunks.  The
 * order matters: a block may wait for results of earlier blocks (look-back
 * scans), never for those of later ones. */
struct Task {
    void (*function)(void *context, uint64_t first, uint64_t end,
                     unsigned worker) = nullptr;
    void *context = nullptr;
    uint64_t total = 0;
    uint64_t chunk = 1;
    std::atomic<uint64_t> next{0};
    std::atomic<bool> cancelled{false};  // give out no more chunks
};

/* Runs the task on the calling thread and the pool's; returns when done.
 * While another thread's task occupies the pool, the caller works alone.
 * Returns the number of threads that could take part. */
unsigned run_parallel(Task *task);

/* Runs the task on the calling thread. */
void run_inline(Task *task);

unsigned num_threads();
/* 0: CUPY_HOST_NUM_THREADS, or all cores that the process may use. */
void set_num_threads(unsigned n);

/* In the child of fork(): its threads are gone, start anew when needed. */
void reset_pool_after_fork();

}  // namespace host

#endif
