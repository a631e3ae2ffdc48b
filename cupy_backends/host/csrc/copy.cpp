#include "copy.h"

#include <cstring>

#include "allocation.h"
#include "error.h"
#include "fault.h"
#include "pool.h"

namespace host {
namespace {

// One core does not use up the memory's bandwidth for copies beyond this.
constexpr size_t kParallelSize = size_t{8} << 20;
constexpr size_t kSlab = size_t{1} << 20;

struct Transfer {
    char *dst;
    const char *src;
    size_t size;
};

void copy_slabs(void *context, uint64_t first, uint64_t end, unsigned) {
    const Transfer &t = *static_cast<Transfer *>(context);
    size_t from = first * kSlab;
    size_t to = end * kSlab < t.size ? end * kSlab : t.size;
    std::memcpy(t.dst + from, t.src + from, to - from);
}

void move(void *dst, const void *src, size_t size) {
    Transfer t{static_cast<char *>(dst), static_cast<const char *>(src),
               size};
    bool overlap = t.dst < t.src + size && t.src < t.dst + size;
    if (size < kParallelSize || overlap) {
        std::memmove(dst, src, size);
        return;
    }
    Task task;
    task.function = copy_slabs;
    task.context = &t;
    task.total = (size + kSlab - 1) / kSlab;
    task.chunk = 1;
    run_parallel(&task);
}

template <typename T>
void fill_elements(void *dst, uint32_t value, size_t count) {
    T *p = static_cast<T *>(dst);
    T v = static_cast<T>(value);
    for (size_t i = 0; i < count; ++i) p[i] = v;
}

void fill_row(void *dst, uint32_t value, size_t element, size_t count) {
    switch (element) {
    case 1:
        std::memset(dst, static_cast<int>(value & 0xff), count);
        break;
    case 2:
        fill_elements<uint16_t>(dst, value, count);
        break;
    default:
        fill_elements<uint32_t>(dst, value, count);
    }
}

/* Bytes from the first to behind the last byte of a box. */
size_t extent(const Plane &p, size_t width, size_t height, size_t depth) {
    return (depth - 1) * p.slice + (height - 1) * p.pitch + width;
}

int check_pitch(const char *function, const Plane &p, size_t width,
                size_t height) {
    if (height <= 1 || p.pitch >= width) return 0;
    return fail(cudaErrorInvalidPitchValue,
                "invalid pitch argument: %s with a pitch of %zu bytes for "
                "rows of %zu bytes", function, p.pitch, width);
}

int check_box(const char *function, const Plane &p, size_t width,
              size_t height, size_t depth) {
    if (int status = check_pitch(function, p, width, height)) return status;
    return check_range(function, p.base, extent(p, width, height, depth));
}

}  // namespace

int copy(const char *function, void *dst, const void *src, size_t size) {
    if (int status = synchronize()) return status;
    if (int status = check_range(function, dst, size)) return status;
    if (int status = check_range(function, src, size)) return status;
    if (size) move(dst, src, size);
    return 0;
}

int copy_box(const char *function, Plane dst, Plane src, size_t width,
             size_t height, size_t depth) {
    if (int status = synchronize()) return status;
    if (!width || !height || !depth) return 0;
    if (int status = check_box(function, dst, width, height, depth)) {
        return status;
    }
    if (int status = check_box(function, src, width, height, depth)) {
        return status;
    }
    for (size_t z = 0; z < depth; ++z) {
        for (size_t y = 0; y < height; ++y) {
            std::memmove(dst.base + z * dst.slice + y * dst.pitch,
                         src.base + z * src.slice + y * src.pitch, width);
        }
    }
    return 0;
}

int fill(const char *function, void *dst, uint32_t value, size_t element,
         size_t count) {
    return fill_box(function, {static_cast<uint8_t *>(dst), 0, 0}, value,
                    element, count, 1, 1);
}

int fill_box(const char *function, Plane dst, uint32_t value, size_t element,
             size_t width, size_t height, size_t depth) {
    if (int status = synchronize()) return status;
    if (!width || !height || !depth) return 0;
    if (reinterpret_cast<uintptr_t>(dst.base) % element) {
        return fail(cudaErrorInvalidValue,
                    "invalid argument: %s at an address that is not a "
                    "multiple of %zu", function, element);
    }
    if (int status = check_box(function, dst, width * element, height,
                               depth)) {
        return status;
    }
    for (size_t z = 0; z < depth; ++z) {
        for (size_t y = 0; y < height; ++y) {
            fill_row(dst.base + z * dst.slice + y * dst.pitch, value,
                     element, width);
        }
    }
    return 0;
}

}  // namespace host
