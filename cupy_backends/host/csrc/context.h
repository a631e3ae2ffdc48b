/* Contexts: handles that are current per thread; nothing hangs on them. */
#ifndef CUPY_HOST_CONTEXT_H_
#define CUPY_HOST_CONTEXT_H_

#include <cuda.h>

namespace host {

/* The calling thread's context; the primary one until it chose another. */
CUcontext current_context();

}  // namespace host

#endif
