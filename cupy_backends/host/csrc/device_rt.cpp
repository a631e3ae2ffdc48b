/* Functions that translated kernels call; see kernel_abi.h. */
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "error.h"
#include "fault.h"
#include "device_limits.h"

namespace {

/* In front of each block of the device heap. */
struct alignas(16) HeapHeader {
    uint64_t size;
    uint64_t magic;
};

constexpr uint64_t kLive = 0x6c69766568656170;  // "livehpae"

std::atomic<uint64_t> heap_bytes{0};

uint64_t nanoseconds(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
           static_cast<uint64_t>(now.tv_nsec);
}

struct ThreadIndex {
    unsigned x, y, z;
};

ThreadIndex thread_index(const hd_launch &launch, uint32_t linear) {
    return {linear % launch.block[0],
            linear / launch.block[0] % launch.block[1],
            linear / launch.block[0] / launch.block[1]};
}

std::string place(const hd_launch &launch, const hd_block &block,
                  uint32_t thread) {
    ThreadIndex t = thread_index(launch, thread);
    char text[160];
    std::snprintf(text, sizeof text,
                  "block: [%u,%u,%u], thread: [%u,%u,%u]", block.ctaid[0],
                  block.ctaid[1], block.ctaid[2], t.x, t.y, t.z);
    return text;
}

/* A text of 1- or wider characters; of the latter only ASCII is kept. */
std::string narrow(const void *text, uint64_t char_size) {
    if (!text) return "?";
    if (char_size <= 1) return static_cast<const char *>(text);
    std::string result;
    for (const char *p = static_cast<const char *>(text); *p;
         p += char_size) {
        result.push_back(*p);
    }
    return result;
}

}  // namespace

extern "C" {

void hd_rt_assertfail(const hd_launch *launch, hd_block *block,
                      uint32_t thread, const void *message, const void *file,
                      uint32_t line, const void *function,
                      uint64_t char_size) {
    std::string text = narrow(file, char_size) + ":" +
                       std::to_string(line) + ": " +
                       narrow(function, char_size) + ": " +
                       place(*launch, *block, thread) + " Assertion `" +
                       narrow(message, char_size) + "` failed.";
    std::fprintf(stderr, "%s\n", text.c_str());
    host::record_fault(cudaErrorAssert,
                       "device-side assert triggered: " + text);
    block->fault = HD_FAULT_ASSERT;
}

void hd_rt_trap(const hd_launch *launch, hd_block *block, uint32_t thread,
                uint32_t line) {
    host::record_fault(cudaErrorLaunchFailure,
                       "unspecified launch failure: trap at PTX line " +
                           std::to_string(line) + ", " +
                           place(*launch, *block, thread));
    block->fault = HD_FAULT_TRAP;
}

void *hd_rt_malloc(uint64_t size) {
    uint64_t total = size + sizeof(HeapHeader);
    if (total < size) return nullptr;
    if (heap_bytes.fetch_add(total) + total > host::device_heap_limit()) {
        heap_bytes.fetch_sub(total);
        return nullptr;
    }
    auto *header = static_cast<HeapHeader *>(
        std::aligned_alloc(alignof(HeapHeader), (total + 15) / 16 * 16));
    if (!header) {
        heap_bytes.fetch_sub(total);
        return nullptr;
    }
    *header = {total, kLive};
    return header + 1;
}

void hd_rt_free(void *pointer) {
    if (!pointer) return;
    HeapHeader *header = static_cast<HeapHeader *>(pointer) - 1;
    if (header->magic != kLive) {
        host::record_fault(cudaErrorLaunchFailure,
                           "unspecified launch failure: free() in a kernel "
                           "of memory that malloc() did not return");
        return;
    }
    header->magic = 0;
    heap_bytes.fetch_sub(header->size);
    std::free(header);
}

uint64_t hd_rt_clock64(void) { return nanoseconds(CLOCK_MONOTONIC); }

uint64_t hd_rt_globaltimer(void) { return nanoseconds(CLOCK_REALTIME); }

void hd_rt_nanosleep(uint32_t duration) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(duration));
}

}  // extern "C"
