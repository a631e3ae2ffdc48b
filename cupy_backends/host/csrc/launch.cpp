/* Driver API, "Execution Control": launches. */
#include "launch.h"

#include <cstring>

#include "bridge_abi.h"
#include "error.h"
#include "fault.h"
#include "module.h"
#include "stream.h"

namespace host {
namespace {

// The largest parameter block of PTX (since 8.1).
constexpr uint32_t kMaxParams = 32764;

/* The block of parameters that a kernel reads. */
class Params {
public:
    int from_pointers(const hd_kernel &kernel, void **pointers);
    int from_extra(const hd_kernel &kernel, void **extra);
    const uint8_t *data() const { return buffer_; }

private:
    static uint8_t *buffer() {
        alignas(64) static thread_local uint8_t memory[kMaxParams + 4];
        return memory;
    }
    uint8_t *buffer_ = buffer();
};

int Params::from_pointers(const hd_kernel &kernel, void **pointers) {
    if (kernel.n_params && !pointers) {
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "invalid argument: kernel %s takes %u parameters, none "
                    "were given", kernel.name, kernel.n_params);
    }
    for (uint32_t i = 0; i < kernel.n_params; ++i) {
        if (!pointers[i]) {
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "invalid argument: parameter %u of kernel %s is a "
                        "NULL pointer", i, kernel.name);
        }
        std::memcpy(buffer_ + kernel.param_offset[i], pointers[i],
                    kernel.param_size[i]);
    }
    return 0;
}

/* {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer,
 *  CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END} */
int Params::from_extra(const hd_kernel &kernel, void **extra) {
    const void *data = nullptr;
    size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            data = extra[1];
        } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            size = *static_cast<size_t *>(extra[1]);
        } else {
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "invalid argument: unknown key in the extra launch "
                        "options of kernel %s", kernel.name);
        }
    }
    if ((kernel.param_bytes && !data) || size < kernel.param_bytes) {
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "invalid argument: kernel %s takes %u bytes of "
                    "parameters, %zu were given", kernel.name,
                    kernel.param_bytes, size);
    }
    if (kernel.param_bytes) std::memcpy(buffer_, data, kernel.param_bytes);
    return 0;
}

int launch(const void *handle, const Grid &shape, CUstream stream,
           void **pointers, void **extra) {
    Function *f;
    Params params;
    if (int status = find_function(handle, &f)) return status;
    if (int status = check_stream(stream)) return status;
    const hd_kernel &kernel = *f->kernel;
    if (int status = check_grid(kernel, shape, f->max_dynamic_shared)) {
        return status;
    }
    if (pointers && extra) {
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "invalid argument: parameters of kernel %s were given "
                    "in two ways", kernel.name);
    }
    int status = extra ? params.from_extra(kernel, extra)
                       : params.from_pointers(kernel, pointers);
    if (status) return status;
    run_grid(kernel, shape, f->module->globals(), params.data(),
             &f->ns_per_block);
    return 0;
}

/* Launch attributes that change what a kernel may do, not just how fast. */
int check_attributes(const CUlaunchConfig &config) {
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        const CUlaunchAttribute &a = config.attrs[i];
        bool cooperative = a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
                           a.value.cooperative;
        bool cluster = a.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
                       (a.value.clusterDim.x > 1 ||
                        a.value.clusterDim.y > 1 || a.value.clusterDim.z > 1);
        if (cooperative || cluster) {
            return fail(CUDA_ERROR_NOT_SUPPORTED,
                        "cuLaunchKernelEx of a %s is not implemented on the "
                        "host device",
                        cooperative ? "cooperative grid" : "thread cluster");
        }
    }
    return 0;
}

int launch_config(const CUlaunchConfig *c, CUfunction f, void **pointers,
                  void **extra) {
    if (!c) return fail(CUDA_ERROR_INVALID_VALUE, "NULL launch config");
    if (int status = check_attributes(*c)) return status;
    Grid shape{{c->gridDimX, c->gridDimY, c->gridDimZ},
               {c->blockDimX, c->blockDimY, c->blockDimZ},
               c->sharedMemBytes};
    return launch(f, shape, c->hStream, pointers, extra);
}

}  // namespace
}  // namespace host

using host::cu;

extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y,
                        unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared, CUstream stream,
                        void **pointers, void **extra) {
    host::Grid shape{{grid_x, grid_y, grid_z},
                     {block_x, block_y, block_z}, shared};
    return cu(host::launch(f, shape, stream, pointers, extra));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
                          void **pointers, void **extra) {
    return cu(host::launch_config(config, f, pointers, extra));
}

int hd_run_kernel(const hd_kernel *kernel, const uint32_t grid[3],
                  const uint32_t block[3], uint32_t dynamic_shared,
                  uint8_t *globals, const void *params) {
    host::Grid shape{{grid[0], grid[1], grid[2]},
                     {block[0], block[1], block[2]}, dynamic_shared};
    int status = host::check_grid(*kernel, shape, 163 << 10);
    if (status) return status;
    std::atomic<float> time{0};
    host::run_grid(*kernel, shape, globals,
                   static_cast<const uint8_t *>(params), &time);
    return host::synchronize();
}

}  // extern "C"
