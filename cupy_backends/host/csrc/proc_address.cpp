/* cuGetProcAddress: how newer clients find the driver's functions. */
#include <dlfcn.h>

#include <string>

#include "error.h"
#include "version.h"

#undef cuGetProcAddress

namespace {

/* Versions of a function that came after CUDA 11.0; an older client must
 * not get them. */
struct Since {
    const char *symbol;
    int version;
};

constexpr Since kSince[] = {
    {"cuCtxCreate_v3", 11040},
    {"cuCtxCreate_v4", 12050},
    {"cuDeviceGetUuid_v2", 11040},
    {"cuGetProcAddress_v2", 12000},
    {"cuEventElapsedTime_v2", 12080},
};

bool offered(const std::string &symbol, int version) {
    for (const Since &entry : kSince) {
        if (symbol == entry.symbol) return version >= entry.version;
    }
    return true;
}

/* This library, whatever else is loaded under other names. */
void *self() {
    static void *handle = [] {
        Dl_info info;
        dladdr(reinterpret_cast<void *>(&host::fail_text), &info);
        return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }();
    return handle;
}

/* The newest version of the function that the client may know. */
void *find(const std::string &name, int version) {
    if (!self()) return nullptr;
    for (const char *suffix : {"_v4", "_v3", "_v2", ""}) {
        std::string symbol = name + suffix;
        if (!offered(symbol, version)) continue;
        if (void *found = dlsym(self(), symbol.c_str())) return found;
    }
    return nullptr;
}

int get(const char *symbol, void **out, int version) {
    if (!symbol || !out) {
        return host::fail(CUDA_ERROR_INVALID_VALUE, "NULL argument");
    }
    *out = find(symbol, version);
    if (*out) return 0;
    return host::fail(CUDA_ERROR_NOT_FOUND,
                      "named symbol not found: the host device has no %s",
                      symbol);
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress(const char *symbol, void **out, int version,
                          cuuint64_t /*flags*/) {
    return host::cu(get(symbol, out, version));
}

#if CUDA_VERSION >= 12000
/* A function that is missing is not an error in this version: *out is NULL
 * and the result says so. */
CUresult cuGetProcAddress_v2(const char *symbol, void **out, int version,
                             cuuint64_t /*flags*/,
                             CUdriverProcAddressQueryResult *result) {
    int status = get(symbol, out, version);
    if (result) {
        *result = status ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                         : CU_GET_PROC_ADDRESS_SUCCESS;
        if (status == CUDA_ERROR_NOT_FOUND) status = 0;
    }
    return host::cu(status);
}
#endif

}  // extern "C"
