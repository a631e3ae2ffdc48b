/* Memory that came from a memory pool goes back to it. */
#ifndef CUPY_HOST_MEMPOOL_H_
#define CUPY_HOST_MEMPOOL_H_

namespace host {

/* Frees device memory, of a pool or not; NULL is fine. */
int free_device(void *pointer);

}  // namespace host

#endif
