/* Contexts: handles that are current per thread; nothing hangs on them. */
#ifndef CUPY_HOST_CONTEXT_H_
#define CUPY_HOST_CONTEXT_H_

#include <cuda.h>

namespace host {

/* What calls of the runtime API do when the thread has no context yet. */
void use_primary_context();

/* The calling thread's context, NULL if it has none. */
CUcontext current_context();

}  // namespace host

#endif
