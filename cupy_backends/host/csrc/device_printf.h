/* printf of kernels. */
#ifndef CUPY_HOST_DEVICE_PRINTF_H_
#define CUPY_HOST_DEVICE_PRINTF_H_

#include <string>

namespace host {

/* Formats with CUDA's argument buffer: each argument in its own size at its
 * natural alignment, floats promoted to double, integers at least 32 bits,
 * strings as addresses.  Appends to `out`; returns the number of arguments
 * used, or -1 for a NULL format. */
int format_device(std::string *out, const char *format,
                  const void *arguments);

/* Writes to stdout what kernels printed so far. */
void flush_printf();

}  // namespace host

#endif
