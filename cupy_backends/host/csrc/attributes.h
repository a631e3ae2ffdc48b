/* What the device says about itself. */
#ifndef CUPY_HOST_ATTRIBUTES_H_
#define CUPY_HOST_ATTRIBUTES_H_

#include <string>

namespace host {

constexpr int kComputeMajor = 8;
constexpr int kComputeMinor = 0;
constexpr int kMaxThreadsPerBlock = 1024;
constexpr int kMaxThreadsPerSM = 2048;
constexpr int kMaxBlocksPerSM = 32;
constexpr int kMaxBlockDim[3] = {1024, 1024, 64};
constexpr int kMaxGridDim[3] = {2147483647, 65535, 65535};
constexpr int kSharedPerBlock = 48 << 10;
constexpr int kSharedPerBlockOptin = 163 << 10;
constexpr int kSharedPerSM = 164 << 10;
constexpr int kRegisters = 65536;
constexpr int kMaxConstant = 65536;

/* Value of a cudaDeviceAttr/CUdevice_attribute (they agree). */
int device_attribute(int attribute, int *value);

/* "CuPy host device (<CPU model>)". */
const std::string &device_name();

/* 0, or cudaErrorInvalidDevice naming the number. */
int check_device(int device);

}  // namespace host

#endif
