/* Status codes and the detailed text that goes with a failure.
 *
 * The runtime and the driver API number their errors alike, so one int
 * serves both.  Every function of the library that fails does so through
 * fail(): the text is kept per thread and handed out by cuGetErrorString
 * and cudaGetErrorString when they are asked for the code of that failure.
 */
#ifndef CUPY_HOST_ERROR_H_
#define CUPY_HOST_ERROR_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

namespace host {

/* Records the text (printf style) for `code` and returns `code`. */
int fail(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* fail() with a text made elsewhere; an empty one restores the usual text. */
int fail_text(int code, const std::string &text);

/* The code of the last failure on this thread if a callback set one after
 * `before` was recorded, else `before`. */
int translator_status(int before);

/* Text of the last failure on this thread, empty if it has none. */
std::string last_text();

/* CUDA_ERROR_NOT_SUPPORTED naming the API function. */
int unsupported(const char *function);

/* The same for a function of the runtime API. */
int runtime_unsupported(const char *function);

/* Turns a status into a runtime API result: remembers it for
 * cudaGetLastError, and gives the thread a context if it has none. */
cudaError_t rt(int status);

inline CUresult cu(int status) { return static_cast<CUresult>(status); }

}  // namespace host

#endif
