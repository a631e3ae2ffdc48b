/* Spreads the blocks of a grid over threads. */
#include <algorithm>
#include <chrono>
#include <new>
#include <string>

#include "attributes.h"
#include "error.h"
#include "fault.h"
#include "guard.h"
#include "launch.h"
#include "pool.h"
#include "scheduler.h"

namespace host {
namespace {

// Waking up the pool's threads takes about this long: less work than this
// is done faster by the caller alone.
constexpr float kParallelNs = 20000;
// A chunk of blocks should take longer than fetching the next one.
constexpr float kChunkNs = 5000;
// Chunks per thread, so that the last ones even out.
constexpr uint64_t kChunksPerThread = 8;
// Assumed cost of a thread in a kernel that has not run yet.
constexpr float kGuessNsPerThread = 5;

struct Run {
    const hd_kernel &kernel;
    hd_launch launch;
    Task task;
};

uint64_t block_count(const Grid &shape) {
    return uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
}

uint32_t thread_count(const Grid &shape) {
    return shape.block[0] * shape.block[1] * shape.block[2];
}

void set_ctaid(const hd_launch &launch, uint64_t index, hd_block *block) {
    uint64_t x = launch.grid[0], y = launch.grid[1];
    block->ctaid[0] = static_cast<uint32_t>(index % x);
    block->ctaid[1] = static_cast<uint32_t>(index / x % y);
    block->ctaid[2] = static_cast<uint32_t>(index / x / y);
}

void run_phases(const Run &run, uint64_t first, uint64_t end,
                hd_block *block) {
    for (uint64_t index = first; index < end && !block->fault; ++index) {
        set_ctaid(run.launch, index, block);
        run_block(run.kernel, run.launch, block, run.task.cancelled);
    }
}

struct Chunk {
    Run &run;
    uint64_t first, end;
    hd_block *block;
};

void run_blocks(void *context) {
    const Chunk &chunk = *static_cast<Chunk *>(context);
    const Run &run = chunk.run;
    if (run.kernel.n_phases) {
        run_phases(run, chunk.first, chunk.end, chunk.block);
        return;
    }
    auto entry = reinterpret_cast<hd_straight_fn>(run.kernel.entry);
    set_ctaid(run.launch, chunk.first, chunk.block);
    entry(&run.launch, chunk.block, chunk.first, chunk.end);
}

/* An exception must not leave a worker. */
Crash run_guarded_chunk(Chunk *chunk) {
    const hd_kernel &kernel = chunk->run.kernel;
    try {
        chunk->block->shared = scratch().shared(
            kernel.static_shared + chunk->run.launch.dynamic_shared);
        return run_guarded(run_blocks, chunk);
    } catch (const std::bad_alloc &) {
        record_fault(cudaErrorMemoryAllocation,
                     std::string("out of memory for the threads of kernel ") +
                         kernel.name);
        chunk->run.task.cancelled = true;
        return {};
    }
}

/* Runs blocks [first, end). */
void run_chunk(void *context, uint64_t first, uint64_t end,
               unsigned worker) {
    Run &run = *static_cast<Run *>(context);
    hd_block block{};
    block.worker = worker;
    Chunk chunk{run, first, end, &block};
    Crash crash = run_guarded_chunk(&chunk);
    if (crash.signal) {
        record_crash(run.kernel, crash);
    } else if (block.fault) {
        record_block_fault(run.kernel, block);
    } else {
        return;
    }
    run.task.cancelled = true;
}

uint64_t chunk_size(uint64_t blocks, float ns_per_block) {
    uint64_t even = blocks / (kChunksPerThread * num_threads());
    auto enough = static_cast<uint64_t>(kChunkNs / ns_per_block);
    return std::max<uint64_t>(1, std::max(even, std::min(enough, blocks)));
}

int too_large(const char *what, const hd_kernel &kernel,
              const uint32_t size[3], const char *limits) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "invalid argument: %s (%u, %u, %u) in the launch of kernel "
                "%s; allowed are %s", what, size[0], size[1], size[2],
                kernel.name, limits);
}

bool within(const uint32_t size[3], const int limit[3]) {
    for (int i = 0; i < 3; ++i) {
        if (size[i] < 1 || size[i] > static_cast<uint32_t>(limit[i])) {
            return false;
        }
    }
    return true;
}

int check_threads(const hd_kernel &kernel, const Grid &shape) {
    uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] *
                       shape.block[2];
    if (threads > uint64_t{kMaxThreadsPerBlock}) {
        return too_large("block", kernel, shape.block,
                         "at most 1024 threads");
    }
    uint32_t limit = kernel.max_threads_per_block;
    if (!limit || threads <= limit) return 0;
    return fail(CUDA_ERROR_INVALID_VALUE,
                "invalid argument: %u threads per block, kernel %s was "
                "compiled for at most %u",
                static_cast<unsigned>(threads), kernel.name, limit);
}

}  // namespace

int check_grid(const hd_kernel &kernel, const Grid &shape,
               int max_dynamic_shared) {
    if (!within(shape.grid, kMaxGridDim)) {
        return too_large("grid", kernel, shape.grid,
                         "1 to 2147483647, 65535 and 65535");
    }
    if (!within(shape.block, kMaxBlockDim)) {
        return too_large("block", kernel, shape.block,
                         "1 to 1024, 1024 and 64");
    }
    if (int status = check_threads(kernel, shape)) return status;
    if (shape.dynamic_shared <= static_cast<uint32_t>(
                                    std::max(0, max_dynamic_shared))) {
        return 0;
    }
    return fail(CUDA_ERROR_INVALID_VALUE,
                "invalid argument: %u bytes of dynamic shared memory in the "
                "launch of kernel %s; its limit is %d (raise it with the "
                "attribute MAX_DYNAMIC_SHARED_SIZE_BYTES)",
                shape.dynamic_shared, kernel.name, max_dynamic_shared);
}

void run_grid(const hd_kernel &kernel, const Grid &shape, uint8_t *globals,
              const uint8_t *params, std::atomic<float> *ns_per_block) {
    using Clock = std::chrono::steady_clock;
    Run run{kernel, {}, {}};
    std::copy(shape.grid, shape.grid + 3, run.launch.grid);
    std::copy(shape.block, shape.block + 3, run.launch.block);
    run.launch.dynamic_shared = shape.dynamic_shared;
    run.launch.globals = globals;
    run.launch.params = params;
    uint64_t blocks = block_count(shape);
    float expected = ns_per_block->load(std::memory_order_relaxed);
    if (expected <= 0) {
        expected = kGuessNsPerThread *
                   static_cast<float>(thread_count(shape));
    }
    run.task.function = run_chunk;
    run.task.context = &run;
    run.task.total = blocks;
    run.task.chunk = chunk_size(blocks, expected);

    auto start = Clock::now();
    unsigned threads = 1;
    if (expected * static_cast<float>(blocks) > kParallelNs) {
        threads = run_parallel(&run.task);
    } else {
        run.task.chunk = blocks;
        run_inline(&run.task);
    }
    std::chrono::duration<float, std::nano> time = Clock::now() - start;
    ns_per_block->store(time.count() * static_cast<float>(threads) /
                            static_cast<float>(blocks),
                        std::memory_order_relaxed);
}

}  // namespace host
