#include "image.h"

#include <cstdio>
#include <cstdint>
#include <cstring>

#include "error.h"

namespace host {
namespace {

struct Magic {
    uint32_t value;  // the first four bytes, little-endian
    const char *what;
};

constexpr Magic kMagics[] = {
    {0x464c457f, "machine code for a real GPU (a cubin)"},
    {0xba55ed50, "a fat binary"},
    {0x466243b1, "a fat binary"},
    {0x7f4e43ed, "LTO-IR"},
    {0xdec04342, "LLVM bitcode"},
};

}  // namespace

int check_ptx_image(const void *image) {
    if (!image) return fail(CUDA_ERROR_INVALID_VALUE, "NULL module image");
    if (!*static_cast<const char *>(image)) {
        return fail(CUDA_ERROR_INVALID_IMAGE,
                    "device kernel image is invalid: it is empty");
    }
    // A text can be shorter than four bytes, so not more than its end.
    uint32_t head = 0;
    std::memcpy(&head, image, strnlen(static_cast<const char *>(image), 4));
    for (const Magic &magic : kMagics) {
        if (magic.value != head) continue;
        return fail(CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "the module image is %s, which cannot run on the host "
                    "device: compile to PTX instead (NVRTC option "
                    "-arch=compute_80)", magic.what);
    }
    if (std::strstr(static_cast<const char *>(image), ".version")) return 0;
    return fail(CUDA_ERROR_INVALID_IMAGE,
                "the module image is not PTX: it has no .version directive");
}

int read_file(const char *path, std::string *out) {
    FILE *file = std::fopen(path, "rb");
    if (!file) {
        return fail(CUDA_ERROR_FILE_NOT_FOUND, "file not found: %s", path);
    }
    char buffer[65536];
    size_t n;
    while ((n = std::fread(buffer, 1, sizeof buffer, file)) > 0) {
        out->append(buffer, n);
    }
    bool bad = std::ferror(file);
    std::fclose(file);
    if (!bad) return 0;
    return fail(CUDA_ERROR_OPERATING_SYSTEM, "cannot read %s", path);
}

}  // namespace host
