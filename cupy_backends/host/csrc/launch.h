/* Runs a grid. */
#ifndef CUPY_HOST_LAUNCH_H_
#define CUPY_HOST_LAUNCH_H_

#include <atomic>
#include <cstdint>

#include "kernel_abi.h"

namespace host {

struct Grid {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared;
};

/* Checks the shape against the device's and the kernel's limits. */
int check_grid(const hd_kernel &kernel, const Grid &shape,
               int max_dynamic_shared);

/* Runs all blocks and returns when they are done.  Faults are recorded
 * (fault.h), not returned.  `ns_per_block` is the time of a block in the
 * last launch (0: unknown): it decides whether waking up threads pays, and
 * is brought up to date. */
void run_grid(const hd_kernel &kernel, const Grid &shape, uint8_t *globals,
              const uint8_t *params, std::atomic<float> *ns_per_block);

}  // namespace host

#endif
