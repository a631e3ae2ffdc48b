/* Driver API, chapters "Module Management" and "Library Management". */
#include "module.h"

#include <cstring>
#include <unordered_map>

#include "allocation.h"
#include "attributes.h"
#include "error.h"
#include "handles.h"
#include "image.h"
#include "translator.h"

namespace host {
namespace {

Handles<Function> functions("kernel");
Handles<Module> modules("module");
std::atomic<uint64_t> next_id{1};

// The module whose load_module callback runs on this thread; it is not in
// `modules` for others to see before that is through.
thread_local Module *loading = nullptr;

int bad_kernel(const char *name, const hd_kernel *kernel) {
    return fail(CUDA_ERROR_INVALID_IMAGE,
                "kernel %s was translated for another version of the host "
                "device (ABI %u, this library has %u)", name,
                kernel->abi_version, HD_ABI_VERSION);
}

int translate(uint64_t module, const char *name, const hd_kernel **out) {
    const hd_translator *t;
    if (int status = find_translator(&t)) return status;
    // What the translator says about a failure is kept; this is for one
    // that says nothing.
    int status = fail(CUDA_ERROR_NOT_FOUND,
                      "named symbol not found: kernel %s", name);
    *out = t->get_kernel(module, name);
    if (!*out) return translator_status(status);
    if ((*out)->abi_version != HD_ABI_VERSION) return bad_kernel(name, *out);
    return 0;
}

int load_text(Module *module, const char *text, size_t size) {
    const hd_translator *t;
    if (int status = find_translator(&t)) return status;
    loading = module;
    int status = t->load_module(module->id(), text, size);
    loading = nullptr;
    return status;
}

int load(const void *image, Module **out) {
    if (!out) return fail(CUDA_ERROR_INVALID_VALUE, "NULL result pointer");
    if (int status = check_ptx_image(image)) return status;
    const char *text = static_cast<const char *>(image);
    Module *module = modules.create(next_id++);
    int status = load_text(module, text, std::strlen(text));
    if (status) {
        std::string reason = last_text();
        modules.destroy(module);
        return fail_text(status, reason);
    }
    *out = module;
    return 0;
}

int load_file(const char *path, Module **out) {
    std::string image;
    if (!path) return fail(CUDA_ERROR_INVALID_VALUE, "NULL file name");
    if (int status = read_file(path, &image)) return status;
    return load(image.c_str(), out);
}

int get_function(const void *module, const char *name, Function **out) {
    Module *found;
    if (!name || !out) return fail(CUDA_ERROR_INVALID_VALUE, "NULL name");
    if (int status = modules.find(module, &found)) return status;
    return found->get_function(name, out);
}

int get_global(const void *module, const char *name, CUdeviceptr *pointer,
               size_t *size) {
    Module *found;
    const hd_translator *t;
    uint64_t offset, bytes;
    if (!name) return fail(CUDA_ERROR_INVALID_VALUE, "NULL name");
    if (int status = modules.find(module, &found)) return status;
    if (int status = find_translator(&t)) return status;
    int status = t->get_global(found->id(), name, &offset, &bytes);
    if (status) return status;
    uint8_t *place = found->globals() + offset;
    if (pointer) *pointer = reinterpret_cast<CUdeviceptr>(place);
    if (size) *size = bytes;
    return 0;
}

}  // namespace

Function::Function(const hd_kernel *k, Module *m)
    : kernel(k), module(m),
      max_dynamic_shared(kSharedPerBlock -
                         static_cast<int>(k->static_shared)) {}

Module::~Module() {
    for (auto &item : functions_) functions.destroy(item.second);
    if (const hd_translator *t = translator()) t->unload_module(id_);
    if (globals_) release(globals_, true);
}

int Module::get_function(const char *name, Function **out) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        auto it = functions_.find(name);
        if (it != functions_.end()) {
            *out = it->second;
            return 0;
        }
    }
    // Not under the lock: translating runs Python, which may wait for a
    // thread that is about to take it.
    const hd_kernel *kernel;
    if (int status = translate(id_, name, &kernel)) return status;
    std::lock_guard<std::mutex> lock(mutex_);
    Function *&slot = functions_[name];
    if (!slot) slot = functions.create(kernel, this);
    *out = slot;
    return 0;
}

int find_function(const void *handle, Function **out) {
    return functions.find(handle, out);
}

}  // namespace host

using host::cu;
using host::Function;
using host::Module;

namespace {

/* Stores an object as the opaque handle type of the API.  The object is a
 * reference because the call that makes `status` sets it, and arguments are
 * evaluated in any order. */
template <typename Handle, typename Object>
CUresult put(int status, Handle *out, Object *const &object) {
    if (!status) *out = reinterpret_cast<Handle>(object);
    return cu(status);
}

}  // namespace

extern "C" {

void *hd_module_set_globals(uint64_t id, uint64_t size, const void *init) {
    Module *module = host::loading;
    if (!module || module->id() != id || module->globals()) return nullptr;
    void *memory;
    // Never of size 0, so that the address of an empty arena is one.
    size_t bytes = size ? size : 1;
    if (host::allocate(&memory, bytes, host::Kind::kDevice)) return nullptr;
    if (init) {
        std::memcpy(memory, init, size);
    } else {
        std::memset(memory, 0, bytes);
    }
    module->set_globals(memory);
    return memory;
}

CUresult cuModuleLoad(CUmodule *out, const char *path) {
    Module *module;
    return put(host::load_file(path, &module), out, module);
}

CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    Module *module;
    return put(host::load(image, &module), out, module);
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image,
                            unsigned /*count*/, CUjit_option * /*options*/,
                            void ** /*values*/) {
    return cuModuleLoadData(out, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image) {
    return cuModuleLoadData(out, image);
}

CUresult cuModuleUnload(CUmodule module) {
    return cu(host::modules.destroy(module));
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule module,
                             const char *name) {
    Function *function;
    return put(host::get_function(module, name, &function), out, function);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *size,
                              CUmodule module, const char *name) {
    return cu(host::get_global(module, name, pointer, size));
}

/* Here a library is a module that belongs to no context. */
CUresult cuLibraryLoadData(CUlibrary *out, const void *image,
                           CUjit_option *, void **, unsigned,
                           CUlibraryOption *, void **, unsigned) {
    Module *module;
    return put(host::load(image, &module), out, module);
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path,
                               CUjit_option *, void **, unsigned,
                               CUlibraryOption *, void **, unsigned) {
    Module *module;
    return put(host::load_file(path, &module), out, module);
}

CUresult cuLibraryUnload(CUlibrary library) {
    return cu(host::modules.destroy(library));
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library,
                            const char *name) {
    Function *function;
    return put(host::get_function(library, name, &function), out, function);
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library) {
    Module *module;
    return put(host::modules.find(library, &module), out, module);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *pointer, size_t *size,
                            CUlibrary library, const char *name) {
    return cu(host::get_global(library, name, pointer, size));
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel) {
    Function *function;
    return put(host::find_function(kernel, &function), out, function);
}

CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel kernel) {
    Function *function;
    int status = host::find_function(kernel, &function);
    return put(status, out, status ? nullptr : function->module);
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
    Function *function;
    int status = host::find_function(handle, &function);
    return put(status, out, status ? nullptr : function->module);
}

}  // extern "C"
