/* The worker threads, for our libraries beside this one: libcurand and the
 * native parts of cupy.cuda.cub, cupy.cuda.thrust and cupy.random. */

#include "common/parallel.h"

#include "pool.h"

namespace {

struct Call {
    void (*function)(void *context, uint64_t first, uint64_t end);
    void *context;
};

void forward(void *context, uint64_t first, uint64_t end, unsigned) {
    auto *call = static_cast<Call *>(context);
    call->function(call->context, first, end);
}

}  // namespace

extern "C" void hd_parallel_for(
        uint64_t total, uint64_t chunk,
        void (*function)(void *context, uint64_t first, uint64_t end),
        void *context) {
    Call call{function, context};
    host::Task task;
    task.function = forward;
    task.context = &call;
    task.total = total;
    task.chunk = chunk ? chunk : 1;
    host::run_parallel(&task);
}
