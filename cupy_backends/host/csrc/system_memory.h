/* What the operating system says about memory, in bytes. */
#ifndef CUPY_HOST_SYSTEM_MEMORY_H_
#define CUPY_HOST_SYSTEM_MEMORY_H_

#include <cstddef>

namespace host {

/* Physical memory, or the limit of this process's control group. */
size_t system_total();
/* What a new allocation may use without swapping. */
size_t system_available();

}  // namespace host

#endif
