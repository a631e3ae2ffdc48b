/* Streams.  Work completes before the call that submits it returns. */
#ifndef CUPY_HOST_STREAM_H_
#define CUPY_HOST_STREAM_H_

#include <cuda_runtime_api.h>

namespace host {

/* 0 if the handle is a live stream or one of the special ones. */
int check_stream(cudaStream_t stream);

}  // namespace host

#endif
