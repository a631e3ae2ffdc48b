/* Memory pools, as other parts of the library see them. */
#ifndef CUPY_HOST_MEMPOOL_H_
#define CUPY_HOST_MEMPOOL_H_

namespace host {

/* Frees device memory, of a pool or not; NULL is fine. */
int free_device(void *pointer);

/* At a synchronisation: pools give back what exceeds their thresholds. */
void trim_pools();

}  // namespace host

#endif
