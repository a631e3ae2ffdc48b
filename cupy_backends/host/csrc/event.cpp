/* Events, runtime and driver API.  An event holds the time of its record. */
#include <chrono>

#include "error.h"
#include "fault.h"
#include "handles.h"
#include "stream.h"

// CUDA 13 renames it in the header; clients look up either name.
#undef cuEventElapsedTime

namespace {

using Clock = std::chrono::steady_clock;

struct Event {
    unsigned flags;
    std::atomic<int64_t> nanoseconds{-1};  // -1: never recorded

    explicit Event(unsigned f) : flags(f) {}
    bool timed() const { return !(flags & cudaEventDisableTiming); }
};

host::Handles<Event> events("event");

constexpr unsigned kKnownFlags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

int create(cudaEvent_t *out, unsigned flags) {
    if (!out || flags & ~kKnownFlags) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: event flags 0x%x", flags);
    }
    if (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming)) {
        return host::fail(cudaErrorInvalidValue,
                          "invalid argument: an interprocess event must be "
                          "created with timing disabled");
    }
    *out = reinterpret_cast<cudaEvent_t>(events.create(flags));
    return 0;
}

int record(cudaEvent_t handle, cudaStream_t stream) {
    Event *event;
    if (int status = events.find(handle, &event)) return status;
    if (int status = host::check_stream(stream)) return status;
    auto now = Clock::now().time_since_epoch();
    event->nanoseconds =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    return 0;
}

int wait(cudaEvent_t handle) {
    Event *event;
    if (int status = events.find(handle, &event)) return status;
    return host::synchronize();
}

int stream_wait(cudaStream_t stream, cudaEvent_t handle) {
    Event *event;
    if (int status = events.find(handle, &event)) return status;
    return host::check_stream(stream);
}

int elapsed(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    Event *from, *to;
    if (int status = events.find(start, &from)) return status;
    if (int status = events.find(end, &to)) return status;
    if (!from->timed() || !to->timed()) {
        return host::fail(cudaErrorInvalidResourceHandle,
                          "invalid resource handle: an event was created "
                          "with timing disabled");
    }
    int64_t first = from->nanoseconds, last = to->nanoseconds;
    if (first < 0 || last < 0) {
        return host::fail(cudaErrorInvalidResourceHandle,
                          "invalid resource handle: an event was never "
                          "recorded");
    }
    *milliseconds = static_cast<float>(
        static_cast<double>(last - first) * 1e-6);
    return 0;
}

}  // namespace

using host::cu;
using host::rt;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t *out) {
    return rt(create(out, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
    return rt(create(out, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return rt(events.destroy(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return rt(record(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned /*flags*/) {
    return rt(record(event, stream));
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return rt(wait(event)); }

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return rt(wait(event));
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
    return rt(elapsed(milliseconds, start, end));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned /*flags*/) {
    return rt(stream_wait(stream, event));
}

CUresult cuEventCreate(CUevent *out, unsigned flags) {
    return cu(create(out, flags));
}

CUresult cuEventDestroy_v2(CUevent event) {
    return cu(events.destroy(event));
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    return cu(record(event, stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream,
                                unsigned /*flags*/) {
    return cu(record(event, stream));
}

CUresult cuEventQuery(CUevent event) { return cu(wait(event)); }

CUresult cuEventSynchronize(CUevent event) { return cu(wait(event)); }

CUresult cuEventElapsedTime(float *milliseconds, CUevent start,
                            CUevent end) {
    return cu(elapsed(milliseconds, start, end));
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start,
                               CUevent end) {
    return cu(elapsed(milliseconds, start, end));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event,
                           unsigned /*flags*/) {
    return cu(stream_wait(stream, event));
}

}  // extern "C"
