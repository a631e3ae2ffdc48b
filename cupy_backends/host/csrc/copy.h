/* Copying and filling memory; shared by the runtime and the driver API. */
#ifndef CUPY_HOST_COPY_H_
#define CUPY_HOST_COPY_H_

#include <cstddef>
#include <cstdint>

namespace host {

/* A rectangle of bytes in memory: rows `pitch` apart, slices `slice`. */
struct Plane {
    uint8_t *base;
    size_t pitch;
    size_t slice;
};

/* All of these report faults of earlier kernels, as CUDA's do. */
int copy(const char *function, void *dst, const void *src, size_t size);
int copy_box(const char *function, Plane dst, Plane src, size_t width,
             size_t height, size_t depth);

/* Fills `count` elements of 1, 2 or 4 bytes. */
int fill(const char *function, void *dst, uint32_t value, size_t element,
         size_t count);
int fill_box(const char *function, Plane dst, uint32_t value, size_t element,
             size_t width, size_t height, size_t depth);

}  // namespace host

#endif
