/* Faults of kernels: recorded when they happen, reported by the next call
 * that synchronises or copies. */
#ifndef CUPY_HOST_FAULT_H_
#define CUPY_HOST_FAULT_H_

#include <string>

#include "guard.h"
#include "kernel_abi.h"

namespace host {

/* Keeps the first fault until it is reported. */
void record_fault(int code, const std::string &text);

/* Records the fault that a block ended with, unless the code that set it
 * did so already. */
void record_block_fault(const hd_kernel &, const hd_block &);

/* Records that a kernel's code was ended by a signal. */
void record_crash(const hd_kernel &, const Crash &);

/* A synchronisation point: writes out what kernels printed, returns the
 * recorded fault (0 if none) and forgets it. */
int synchronize();

}  // namespace host

#endif
