/* The errors that the host device knows by name:
 * X(number, runtime name, driver name, short description). */
#ifndef CUPY_HOST_ERROR_NAMES_H_
#define CUPY_HOST_ERROR_NAMES_H_

#define HOST_ERRORS(X) \
    X(0, cudaSuccess, CUDA_SUCCESS, "no error") \
    X(1, cudaErrorInvalidValue, CUDA_ERROR_INVALID_VALUE, \
      "invalid argument") \
    X(2, cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY, \
      "out of memory") \
    X(3, cudaErrorInitializationError, CUDA_ERROR_NOT_INITIALIZED, \
      "initialization error") \
    X(4, cudaErrorCudartUnloading, CUDA_ERROR_DEINITIALIZED, \
      "driver shutting down") \
    X(9, cudaErrorInvalidConfiguration, CUDA_ERROR_UNKNOWN, \
      "invalid configuration argument") \
    X(12, cudaErrorInvalidPitchValue, CUDA_ERROR_UNKNOWN, \
      "invalid pitch argument") \
    X(17, cudaErrorInvalidDevicePointer, CUDA_ERROR_UNKNOWN, \
      "invalid device pointer") \
    X(21, cudaErrorInvalidMemcpyDirection, CUDA_ERROR_UNKNOWN, \
      "invalid copy direction for memcpy") \
    X(34, cudaErrorStubLibrary, CUDA_ERROR_STUB_LIBRARY, \
      "CUDA driver is a stub library") \
    X(35, cudaErrorInsufficientDriver, CUDA_ERROR_UNKNOWN, \
      "CUDA driver version is insufficient for CUDA runtime version") \
    X(98, cudaErrorInvalidDeviceFunction, CUDA_ERROR_UNKNOWN, \
      "invalid device function") \
    X(100, cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE, \
      "no CUDA-capable device is detected") \
    X(101, cudaErrorInvalidDevice, CUDA_ERROR_INVALID_DEVICE, \
      "invalid device ordinal") \
    X(200, cudaErrorInvalidKernelImage, CUDA_ERROR_INVALID_IMAGE, \
      "device kernel image is invalid") \
    X(201, cudaErrorDeviceUninitialized, CUDA_ERROR_INVALID_CONTEXT, \
      "invalid device context") \
    X(209, cudaErrorNoKernelImageForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU, \
      "no kernel image is available for execution on the device") \
    X(215, cudaErrorUnsupportedLimit, CUDA_ERROR_UNSUPPORTED_LIMIT, \
      "limit is not supported on this architecture") \
    X(217, cudaErrorPeerAccessUnsupported, \
      CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, \
      "peer access is not supported between these two devices") \
    X(218, cudaErrorInvalidPtx, CUDA_ERROR_INVALID_PTX, \
      "a PTX JIT compilation failed") \
    X(300, cudaErrorInvalidSource, CUDA_ERROR_INVALID_SOURCE, \
      "device kernel image is invalid") \
    X(301, cudaErrorFileNotFound, CUDA_ERROR_FILE_NOT_FOUND, \
      "file not found") \
    X(304, cudaErrorOperatingSystem, CUDA_ERROR_OPERATING_SYSTEM, \
      "OS call failed or operation not supported on this OS") \
    X(400, cudaErrorInvalidResourceHandle, CUDA_ERROR_INVALID_HANDLE, \
      "invalid resource handle") \
    X(401, cudaErrorIllegalState, CUDA_ERROR_ILLEGAL_STATE, \
      "the operation cannot be performed in the present state") \
    X(500, cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND, \
      "named symbol not found") \
    X(600, cudaErrorNotReady, CUDA_ERROR_NOT_READY, "device not ready") \
    X(700, cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS, \
      "an illegal memory access was encountered") \
    X(701, cudaErrorLaunchOutOfResources, \
      CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, \
      "too many resources requested for launch") \
    X(702, cudaErrorLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT, \
      "the launch timed out and was terminated") \
    X(704, cudaErrorPeerAccessAlreadyEnabled, \
      CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, \
      "peer access is already enabled") \
    X(705, cudaErrorPeerAccessNotEnabled, \
      CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, \
      "peer access has not been enabled") \
    X(708, cudaErrorSetOnActiveProcess, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, \
      "cannot set while device is active in this process") \
    X(709, cudaErrorContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED, \
      "context is destroyed") \
    X(710, cudaErrorAssert, CUDA_ERROR_ASSERT, \
      "device-side assert triggered") \
    X(712, cudaErrorHostMemoryAlreadyRegistered, \
      CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, \
      "part or all of the requested memory range is already mapped") \
    X(713, cudaErrorHostMemoryNotRegistered, \
      CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, \
      "pointer does not correspond to a registered memory region") \
    X(715, cudaErrorIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION, \
      "an illegal instruction was encountered") \
    X(716, cudaErrorMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS, \
      "misaligned address") \
    X(719, cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED, \
      "unspecified launch failure") \
    X(720, cudaErrorCooperativeLaunchTooLarge, \
      CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, \
      "too many blocks in cooperative launch") \
    X(800, cudaErrorNotPermitted, CUDA_ERROR_NOT_PERMITTED, \
      "operation not permitted") \
    X(801, cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED, \
      "operation not supported") \
    X(900, cudaErrorStreamCaptureUnsupported, \
      CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, \
      "operation not permitted when stream is capturing") \
    X(901, cudaErrorStreamCaptureInvalidated, \
      CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, \
      "operation failed due to a previous error during capture") \
    X(999, cudaErrorUnknown, CUDA_ERROR_UNKNOWN, "unknown error")

#endif
