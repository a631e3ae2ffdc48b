/* Modules and their kernels. */
#ifndef CUPY_HOST_MODULE_H_
#define CUPY_HOST_MODULE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "kernel_abi.h"

namespace host {

class Module;

/* A kernel of a loaded module: CUfunction and CUkernel. */
struct Function {
    const hd_kernel *kernel;
    Module *module;
    // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    std::atomic<int> max_dynamic_shared;
    // Time per block measured in the last launch, 0 before the first.
    std::atomic<float> ns_per_block{0};

    Function(const hd_kernel *kernel, Module *module);
};

class Module {
public:
    explicit Module(uint64_t id) : id_(id) {}
    ~Module();

    uint64_t id() const { return id_; }
    uint8_t *globals() const { return globals_; }
    /* Takes over memory from allocate(). */
    void set_globals(void *memory) {
        globals_ = static_cast<uint8_t *>(memory);
    }
    /* Compiles the kernel at the first call. */
    int get_function(const char *name, Function **out);

private:
    const uint64_t id_;
    uint8_t *globals_ = nullptr;
    std::mutex mutex_;
    std::map<std::string, Function *> functions_;
};

/* 0 and the kernel behind a CUfunction (or CUkernel). */
int find_function(const void *handle, Function **out);

}  // namespace host

#endif
