#include <algorithm>
#include <cstdlib>
#include <new>

#include "scheduler.h"

namespace host {

// One cache page: also keeps the buffers of two workers apart.
constexpr size_t kAlignment = 4096;

Scratch::~Scratch() {
    std::free(shared_.data);
    std::free(frames_.data);
    std::free(warps_.data);
}

uint8_t *Scratch::grow(Buffer *buffer, size_t bytes) {
    bytes = std::max<size_t>(bytes, 1);
    if (bytes <= buffer->size) return buffer->data;
    size_t size = std::max(bytes, buffer->size * 2);
    void *memory = nullptr;
    if (posix_memalign(&memory, kAlignment, size)) throw std::bad_alloc();
    std::free(buffer->data);
    buffer->data = static_cast<uint8_t *>(memory);
    buffer->size = size;
    return buffer->data;
}

Scratch &scratch() {
    static thread_local Scratch instance;
    return instance;
}

}  // namespace host
