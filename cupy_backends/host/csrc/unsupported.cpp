/* API functions that CuPy refers to and the host device does not have.
 *
 * This file does not include CUDA's headers: with the C calling convention
 * the caller cleans up, so one parameterless definition serves for every
 * signature and for each version of CUDA. */

namespace host {
int unsupported(const char *function);  // error.h
int runtime_unsupported(const char *function);
}  // namespace host

#define RUNTIME(name) \
    int name(void) { return host::runtime_unsupported(#name); }
#define DRIVER(name) \
    int name(void) { return host::unsupported(#name); }

extern "C" {

/* Interprocess communication */
RUNTIME(cudaIpcCloseMemHandle)
RUNTIME(cudaIpcGetEventHandle)
RUNTIME(cudaIpcGetMemHandle)
RUNTIME(cudaIpcOpenEventHandle)
RUNTIME(cudaIpcOpenMemHandle)
DRIVER(cuIpcCloseMemHandle)
DRIVER(cuIpcGetEventHandle)
DRIVER(cuIpcGetMemHandle)
DRIVER(cuIpcOpenEventHandle)
DRIVER(cuIpcOpenMemHandle_v2)

/* CUDA arrays, textures and surfaces */
RUNTIME(cudaMalloc3DArray)
RUNTIME(cudaMallocArray)
RUNTIME(cudaFreeArray)
RUNTIME(cudaMemcpy2DFromArray)
RUNTIME(cudaMemcpy2DFromArrayAsync)
RUNTIME(cudaMemcpy2DToArray)
RUNTIME(cudaMemcpy2DToArrayAsync)
RUNTIME(cudaGetChannelDesc)
RUNTIME(cudaCreateTextureObject)
RUNTIME(cudaDestroyTextureObject)
RUNTIME(cudaGetTextureObjectResourceDesc)
RUNTIME(cudaGetTextureObjectTextureDesc)
RUNTIME(cudaCreateSurfaceObject)
RUNTIME(cudaDestroySurfaceObject)

/* Graphs and stream capture */
RUNTIME(cudaStreamBeginCapture)
RUNTIME(cudaStreamEndCapture)
RUNTIME(cudaGraphDestroy)
RUNTIME(cudaGraphExecDestroy)
RUNTIME(cudaGraphInstantiate)
RUNTIME(cudaGraphLaunch)
RUNTIME(cudaGraphUpload)
RUNTIME(cudaGraphDebugDotPrint)
DRIVER(cuStreamBeginCapture_v2)
DRIVER(cuStreamEndCapture)
DRIVER(cuGraphCreate)
DRIVER(cuGraphLaunch)

/* Cooperative grids */
RUNTIME(cudaLaunchCooperativeKernel)
DRIVER(cuLaunchCooperativeKernel)

/* Kernels of a program that nvcc compiled: only code that comes as PTX can
 * run. */
RUNTIME(cudaLaunchKernel)
RUNTIME(cudaFuncGetAttributes)

}  // extern "C"
