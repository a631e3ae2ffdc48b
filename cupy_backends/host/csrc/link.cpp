/* Driver API: cuLink*.  Linking one PTX text gives that text; more cannot
 * be linked here. */
#include <string>

#include "error.h"
#include "handles.h"
#include "image.h"

namespace {

struct Linker {
    std::string text;
    bool filled = false;
};

host::Handles<Linker> linkers("linker state");

int not_supported(const char *what) {
    return host::fail(CUDA_ERROR_NOT_SUPPORTED,
                      "linking %s with cuLink* is not implemented on the "
                      "host device; it takes one PTX text", what);
}

int add_text(CUlinkState state, CUjitInputType type, std::string text) {
    Linker *linker;
    if (int status = linkers.find(state, &linker)) return status;
    if (type != CU_JIT_INPUT_PTX) {
        return not_supported("inputs that are not PTX");
    }
    if (int status = host::check_ptx_image(text.c_str())) return status;
    if (linker->filled) return not_supported("several inputs");
    linker->filled = true;
    linker->text = std::move(text);
    return 0;
}

int add_data(CUlinkState state, CUjitInputType type, const void *data,
             size_t size) {
    if (!data) return host::fail(CUDA_ERROR_INVALID_VALUE, "NULL data");
    return add_text(state, type,
                    std::string(static_cast<const char *>(data), size));
}

int add_file(CUlinkState state, CUjitInputType type, const char *path) {
    std::string text;
    if (!path) return host::fail(CUDA_ERROR_INVALID_VALUE, "NULL path");
    if (type != CU_JIT_INPUT_PTX) {
        return not_supported("inputs that are not PTX");
    }
    if (int status = host::read_file(path, &text)) return status;
    return add_text(state, type, std::move(text));
}

int complete(CUlinkState state, void **image, size_t *size) {
    Linker *linker;
    if (int status = linkers.find(state, &linker)) return status;
    *image = const_cast<char *>(linker->text.c_str());
    if (size) *size = linker->text.size() + 1;  // with the final NUL
    return 0;
}

}  // namespace

using host::cu;

extern "C" {

CUresult cuLinkCreate_v2(unsigned, CUjit_option *, void **,
                         CUlinkState *out) {
    *out = reinterpret_cast<CUlinkState>(linkers.create());
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data,
                          size_t size, const char * /*name*/, unsigned,
                          CUjit_option *, void **) {
    return cu(add_data(state, type, data, size));
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type,
                          const char *path, unsigned, CUjit_option *,
                          void **) {
    return cu(add_file(state, type, path));
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size) {
    return cu(complete(state, image, size));
}

CUresult cuLinkDestroy(CUlinkState state) {
    return cu(linkers.destroy(state));
}

}  // extern "C"
