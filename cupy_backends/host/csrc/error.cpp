/* Error names, texts and the per-thread record of the last failure. */
#include "error.h"

#include <cstdarg>
#include <cstdio>

#include "bridge_abi.h"
#include "context.h"
#include "error_names.h"

namespace host {
namespace {

struct Failure {
    int code = 0;
    std::string text;
};

thread_local Failure last_failure;       // the detailed text
thread_local int last_runtime_error = 0;  // for cudaGetLastError

struct Entry {
    int code;
    const char *runtime_name, *driver_name, *text;
};

#define HOST_ENTRY(number, runtime, driver, text) \
    {number, #runtime, #driver, text},
constexpr Entry kEntries[] = {HOST_ERRORS(HOST_ENTRY)};
#undef HOST_ENTRY

#define HOST_CHECK(number, runtime, driver, text) \
    static_assert(number == runtime, "error number");
HOST_ERRORS(HOST_CHECK)
#undef HOST_CHECK

const Entry *find(int code) {
    for (const Entry &entry : kEntries) {
        if (entry.code == code) return &entry;
    }
    return nullptr;
}

const char *text_of(int code) {
    if (last_failure.code == code && !last_failure.text.empty()) {
        return last_failure.text.c_str();
    }
    const Entry *entry = find(code);
    return entry ? entry->text : nullptr;
}

}  // namespace

int fail_text(int code, const std::string &text) {
    last_failure.code = code;
    last_failure.text = text;
    return code;
}

int fail(int code, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fail_text(code, text);
}

int translator_status(int before) {
    return last_failure.code ? last_failure.code : before;
}

std::string last_text() { return last_failure.text; }

int unsupported(const char *function) {
    return fail(CUDA_ERROR_NOT_SUPPORTED,
                "%s is not implemented on the host device", function);
}

int runtime_unsupported(const char *function) {
    return rt(unsupported(function));
}

cudaError_t rt(int status) {
    use_primary_context();
    if (status) last_runtime_error = status;
    return static_cast<cudaError_t>(status);
}

}  // namespace host

extern "C" {

/* The usual text comes first where it says something: there are programs
 * that look for it. */
void hd_set_error(int code, const char *text) {
    const host::Entry *entry = host::find(code);
    bool telling = entry && code != CUDA_ERROR_NOT_SUPPORTED &&
                   code != CUDA_ERROR_UNKNOWN;
    std::string prefix = telling ? std::string(entry->text) + ": " : "";
    host::fail_text(code, prefix + text);
}

const char *cudaGetErrorName(cudaError_t error) {
    const host::Entry *entry = host::find(error);
    return entry ? entry->runtime_name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    const char *text = host::text_of(error);
    return text ? text : "unrecognized error code";
}

cudaError_t cudaGetLastError(void) {
    int status = host::last_runtime_error;
    host::last_runtime_error = 0;
    return static_cast<cudaError_t>(status);
}

cudaError_t cudaPeekAtLastError(void) {
    return static_cast<cudaError_t>(host::last_runtime_error);
}

CUresult cuGetErrorName(CUresult error, const char **name) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    const host::Entry *entry = host::find(error);
    *name = entry ? entry->driver_name : "CUDA_ERROR_UNKNOWN";
    return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    const char *found = host::text_of(error);
    *text = found ? found : "unknown error";
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"
