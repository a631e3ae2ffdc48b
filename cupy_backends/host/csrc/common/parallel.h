/* Loops over the worker threads of libcuda.so.1. */
#ifndef CUPY_HOST_COMMON_PARALLEL_H_
#define CUPY_HOST_COMMON_PARALLEL_H_

#include <cstdint>
#include <type_traits>

extern "C" {

/* Calls function(context, first, end) for consecutive ranges of `chunk`
 * items that cover [0, total), spread over the threads that launches use;
 * returns when all are done.  The function must not throw, nor call this. */
void hd_parallel_for(
    uint64_t total, uint64_t chunk,
    void (*function)(void *context, uint64_t first, uint64_t end),
    void *context);

uint32_t hd_get_num_threads(void);

}  // extern "C"

namespace host {

/* body(first, end) over [0, total) in ranges of `chunk`.  Work that fits in
 * one range stays on the calling thread. */
template <typename Body>
void parallel_for(uint64_t total, uint64_t chunk, Body &&body) {
    if (total == 0) return;
    if (total <= chunk) {
        body(uint64_t{0}, total);
        return;
    }
    using Plain = std::remove_reference_t<Body>;
    auto call = [](void *context, uint64_t first, uint64_t end) {
        (*static_cast<Plain *>(context))(first, end);
    };
    hd_parallel_for(total, chunk, call,
                    const_cast<std::remove_const_t<Plain> *>(&body));
}

}  // namespace host

#endif
