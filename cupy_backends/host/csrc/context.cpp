/* Driver API, chapters "Context Management" and "Primary Context". */
#include "context.h"

#include <vector>

#include "attributes.h"
#include "error.h"
#include "fault.h"
#include "handles.h"
#include "mempool.h"

namespace host {
namespace {

struct Context {
    unsigned flags = 0;
};

Handles<Context> contexts("context");
std::atomic<unsigned> primary_retained{0};
std::atomic<unsigned> primary_flags{0};

CUcontext handle(Context *context) {
    return reinterpret_cast<CUcontext>(context);
}

CUcontext primary() {
    static CUcontext context = handle(contexts.create());
    return context;
}

/* Bottom first; empty at the start of a thread. */
std::vector<CUcontext> &stack() {
    static thread_local std::vector<CUcontext> current;
    return current;
}

int check_context(CUcontext context) {
    Context *found;
    return contexts.find(context, &found);
}

int create(CUcontext *out, unsigned flags, CUdevice device) {
    if (int status = check_device(device)) return status;
    *out = handle(contexts.create(Context{flags}));
    stack().push_back(*out);
    return 0;
}

int destroy(CUcontext context) {
    if (context == primary()) {
        return fail(CUDA_ERROR_INVALID_CONTEXT,
                    "invalid device context: the primary context cannot be "
                    "destroyed");
    }
    if (int status = contexts.destroy(context)) return status;
    if (!stack().empty() && stack().back() == context) stack().pop_back();
    return 0;
}

int set_current(CUcontext context) {
    if (context) {
        if (int status = check_context(context)) return status;
    }
    if (!stack().empty()) stack().pop_back();
    if (context) stack().push_back(context);
    return 0;
}

int pop(CUcontext *out) {
    if (stack().empty()) {
        return fail(CUDA_ERROR_INVALID_CONTEXT,
                    "invalid device context: no context is current");
    }
    if (out) *out = stack().back();
    stack().pop_back();
    return 0;
}

int push(CUcontext context) {
    if (int status = check_context(context)) return status;
    stack().push_back(context);
    return 0;
}

int retain_primary(CUcontext *out, CUdevice device) {
    if (int status = check_device(device)) return status;
    ++primary_retained;
    *out = primary();
    return 0;
}

int release_primary(CUdevice device) {
    if (int status = check_device(device)) return status;
    unsigned count = primary_retained.load();
    while (count &&
           !primary_retained.compare_exchange_weak(count, count - 1)) {
    }
    return 0;
}

}  // namespace

void use_primary_context() {
    if (stack().empty()) stack().push_back(primary());
}

CUcontext current_context() {
    return stack().empty() ? nullptr : stack().back();
}

}  // namespace host

using host::cu;

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
    return cu(host::retain_primary(out, device));
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return cu(host::release_primary(device));
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    if (int status = host::check_device(device)) return cu(status);
    host::primary_flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
                                    int *active) {
    if (int status = host::check_device(device)) return cu(status);
    if (flags) *flags = host::primary_flags;
    if (active) *active = host::primary_retained > 0;
    return CUDA_SUCCESS;
}

/* The signature without extras, which clients look up by this name. */
CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device) {
    return cu(host::create(out, flags, device));
}

CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *, int n,
                        unsigned flags, CUdevice device) {
    if (n) return cu(host::unsupported("cuCtxCreate with an affinity"));
    return cu(host::create(out, flags, device));
}

#if CUDA_VERSION >= 12050
CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *parameters,
                        unsigned flags, CUdevice device) {
    if (parameters) {
        return cu(host::unsupported("cuCtxCreate with parameters"));
    }
    return cu(host::create(out, flags, device));
}
#endif

CUresult cuCtxDestroy_v2(CUcontext context) {
    return cu(host::destroy(context));
}

CUresult cuCtxGetCurrent(CUcontext *out) {
    *out = host::current_context();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    return cu(host::set_current(context));
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return cu(host::push(context));
}

CUresult cuCtxPopCurrent_v2(CUcontext *out) { return cu(host::pop(out)); }

CUresult cuCtxGetDevice(CUdevice *device) {
    if (!host::current_context()) {
        return cu(host::fail(CUDA_ERROR_INVALID_CONTEXT,
                             "invalid device context: no context is "
                             "current"));
    }
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned *flags) {
    *flags = host::primary_flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext, unsigned *version) {
    *version = 3020;  // the API version of all _v2 contexts
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    host::trim_pools();
    return cu(host::synchronize());
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return cu(cudaDeviceGetStreamPriorityRange(least, greatest));
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    return cu(cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)));
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    return cu(cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value));
}

}  // extern "C"
