/* Streams, runtime and driver API. */
#include "stream.h"

#include "context.h"
#include "error.h"
#include "fault.h"
#include "handles.h"
#include "mempool.h"

namespace host {
namespace {

// A lower number is a higher priority; both ends as cudaDeviceGetStream-
// PriorityRange reports them for GPUs.
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

struct Stream {
    unsigned flags;
    int priority;
    unsigned long long id;
};

Handles<Stream> streams("stream");
std::atomic<unsigned long long> next_id{3};

/* NULL, the legacy and the per-thread default stream have no object. */
bool is_default(cudaStream_t stream) {
    return stream == nullptr || stream == cudaStreamLegacy ||
           stream == cudaStreamPerThread;
}

int create(cudaStream_t *out, unsigned flags, int priority) {
    if (!out || flags > cudaStreamNonBlocking) {
        return fail(cudaErrorInvalidValue,
                    "invalid argument: stream flags 0x%x", flags);
    }
    // Out of range priorities are clamped (cudaStreamCreateWithPriority).
    if (priority > kLeastPriority) priority = kLeastPriority;
    if (priority < kGreatestPriority) priority = kGreatestPriority;
    Stream *stream = streams.create(Stream{flags, priority, next_id++});
    *out = reinterpret_cast<cudaStream_t>(stream);
    return 0;
}

int find(cudaStream_t handle, Stream *out) {
    *out = {cudaStreamDefault, 0, reinterpret_cast<uintptr_t>(handle)};
    if (is_default(handle)) return 0;
    Stream *stream;
    int status = streams.find(handle, &stream);
    if (!status) *out = *stream;
    return status;
}

int destroy(cudaStream_t stream) {
    if (is_default(stream)) {
        return fail(cudaErrorInvalidResourceHandle,
                    "invalid resource handle: the default stream cannot be "
                    "destroyed");
    }
    return streams.destroy(stream);
}

int query(cudaStream_t stream) {
    if (int status = check_stream(stream)) return status;
    return synchronize();
}

int synchronize_stream(cudaStream_t stream) {
    if (int status = query(stream)) return status;
    trim_pools();
    return 0;
}

/* Earlier work of the stream is done, so the callback's turn is now. */
int add_callback(cudaStream_t stream, cudaStreamCallback_t callback,
                 void *data, unsigned flags) {
    if (int status = check_stream(stream)) return status;
    if (!callback || flags) {
        return fail(cudaErrorInvalidValue,
                    "invalid argument: cudaStreamAddCallback with %s",
                    callback ? "flags other than 0" : "a NULL callback");
    }
    int status = synchronize();
    callback(stream, static_cast<cudaError_t>(status), data);
    return 0;
}

int launch_host(cudaStream_t stream, void (*function)(void *), void *data) {
    if (int status = check_stream(stream)) return status;
    if (!function) return fail(cudaErrorInvalidValue, "NULL host function");
    function(data);
    return 0;
}

}  // namespace

int check_stream(cudaStream_t stream) {
    if (is_default(stream)) return 0;
    Stream *found;
    return streams.find(stream, &found);
}

}  // namespace host

using host::cu;
using host::rt;
using host::Stream;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t *out) {
    return rt(host::create(out, cudaStreamDefault, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
    return rt(host::create(out, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags,
                                         int priority) {
    return rt(host::create(out, flags, priority));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
    Stream found;
    int status = host::find(stream, &found);
    *flags = found.flags;
    return rt(status);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    Stream found;
    int status = host::find(stream, &found);
    *priority = found.priority;
    return rt(status);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    Stream found;
    int status = host::find(stream, &found);
    *id = found.id;
    return rt(status);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = host::kLeastPriority;
    if (greatest) *greatest = host::kGreatestPriority;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return rt(host::destroy(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return rt(host::synchronize_stream(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return rt(host::query(stream));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                  cudaStreamCallback_t callback, void *data,
                                  unsigned flags) {
    return rt(host::add_callback(stream, callback, data, flags));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void *data) {
    return rt(host::launch_host(stream, function, data));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  cudaStreamCaptureStatus *capturing) {
    *capturing = cudaStreamCaptureStatusNone;
    return rt(host::check_stream(stream));
}

CUresult cuStreamCreate(CUstream *out, unsigned flags) {
    return cu(host::create(out, flags, 0));
}

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags,
                                    int priority) {
    return cu(host::create(out, flags, priority));
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
    return cu(cudaStreamGetFlags(stream, flags));
}

CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    return cu(cudaStreamGetPriority(stream, priority));
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
    return cu(cudaStreamGetId(stream, id));
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    if (int status = host::check_stream(stream)) return cu(status);
    *context = host::current_context();
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
    return cu(host::destroy(stream));
}

CUresult cuStreamSynchronize(CUstream stream) {
    return cu(host::synchronize_stream(stream));
}

CUresult cuStreamQuery(CUstream stream) {
    return cu(host::query(stream));
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback,
                             void *data, unsigned flags) {
    auto function = reinterpret_cast<cudaStreamCallback_t>(callback);
    return cu(host::add_callback(stream, function, data, flags));
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
    return cu(host::launch_host(stream, function, data));
}

CUresult cuStreamIsCapturing(CUstream stream,
                             CUstreamCaptureStatus *capturing) {
    *capturing = CU_STREAM_CAPTURE_STATUS_NONE;
    return cu(host::check_stream(stream));
}

}  // extern "C"
