/* fork(): locks are taken around it, and the child starts its own threads.
 */
#include <pthread.h>

#include "allocation.h"
#include "pool.h"

namespace {

void in_child() {
    host::renew_allocations_lock();
    host::reset_pool_after_fork();
}

__attribute__((constructor)) void install() {
    pthread_atfork(host::lock_allocations, host::unlock_allocations,
                   in_child);
}

}  // namespace
