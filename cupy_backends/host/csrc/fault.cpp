#include "fault.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <mutex>

#include "device_printf.h"
#include "error.h"

namespace host {
namespace {

std::mutex fault_mutex;
std::atomic<int> fault_code{0};
std::string fault_text;

}  // namespace

void record_fault(int code, const std::string &text) {
    std::lock_guard<std::mutex> lock(fault_mutex);
    if (fault_code.load(std::memory_order_relaxed)) return;
    fault_text = text;
    fault_code.store(code, std::memory_order_release);
}

void record_block_fault(const hd_kernel &kernel, const hd_block &block) {
    if (block.fault == HD_FAULT_NONE) return;
    std::string where = std::string("kernel ") + kernel.name + ", block (" +
                        std::to_string(block.ctaid[0]) + "," +
                        std::to_string(block.ctaid[1]) + "," +
                        std::to_string(block.ctaid[2]) + ")";
    switch (block.fault) {
    case HD_FAULT_ASSERT:
        record_fault(cudaErrorAssert, "");
        break;
    case HD_FAULT_DEADLOCK:  // recorded by the scheduler with details
        record_fault(cudaErrorLaunchTimeout, "deadlock in " + where);
        break;
    case HD_FAULT_STACK:
        record_fault(cudaErrorLaunchFailure,
                     "device stack exhausted in " + where);
        break;
    default:
        record_fault(cudaErrorLaunchFailure,
                     "unspecified launch failure: trap in " + where);
    }
}

void record_crash(const hd_kernel &kernel, const Crash &crash) {
    std::string in_kernel = std::string(" in kernel ") + kernel.name;
    char address[64] = "";
    switch (crash.signal) {
    case SIGILL:
        record_fault(cudaErrorIllegalInstruction,
                     "an illegal instruction was encountered" + in_kernel);
        break;
    case SIGFPE:
        record_fault(cudaErrorLaunchFailure,
                     "unspecified launch failure: arithmetic trap" +
                         in_kernel);
        break;
    default:
        if (crash.address) {
            std::snprintf(address, sizeof address, " (address %p)",
                          crash.address);
        }
        record_fault(cudaErrorIllegalAddress,
                     "an illegal memory access was encountered" + in_kernel +
                         address);
    }
}

int synchronize() {
    flush_printf();
    if (!fault_code.load(std::memory_order_acquire)) return 0;
    std::lock_guard<std::mutex> lock(fault_mutex);
    int code = fault_code.exchange(0);
    return code ? fail_text(code, fault_text) : 0;
}

}  // namespace host
