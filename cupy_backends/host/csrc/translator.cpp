#include "translator.h"

#include <atomic>
#include <cstring>

#include "error.h"

namespace host {
namespace {

std::atomic<const hd_translator *> registered{nullptr};

struct Size {
    const char *name;
    uint64_t bytes;
};

#define HOST_SIZE(type) {#type, sizeof(type)}
constexpr Size kSizes[] = {
    HOST_SIZE(hd_launch), HOST_SIZE(hd_block), HOST_SIZE(hd_stop),
    HOST_SIZE(hd_kernel), HOST_SIZE(hd_translator),
};
#undef HOST_SIZE

}  // namespace

const hd_translator *translator() {
    return registered.load(std::memory_order_acquire);
}

int find_translator(const hd_translator **out) {
    *out = translator();
    if (*out) return 0;
    return fail(CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
                "the host device has no PTX translator: call "
                "cupy_backends.host.activate() before using it");
}

}  // namespace host

extern "C" {

void hd_set_translator(const hd_translator *translator) {
    // A copy: the caller's structure may be gone at interpreter shutdown
    // while another thread is still inside a call.  A few bytes are leaked
    // per registration.
    const hd_translator *copy =
        translator ? new hd_translator(*translator) : nullptr;
    host::registered.store(copy, std::memory_order_release);
}

uint64_t hd_sizeof(const char *structure) {
    for (const host::Size &size : host::kSizes) {
        if (!std::strcmp(size.name, structure)) return size.bytes;
    }
    return 0;
}

}  // extern "C"
