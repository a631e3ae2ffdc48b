"""Device queries, limits, contexts, and the set of exported functions."""
from __future__ import annotations

import ctypes
import os
from typing import Any

import hostlib
import pytest

# What the extension modules of CuPy 14.2 and libcccl (cuda.compute) look up.
DRIVER = '''
GetErrorName GetErrorString DevicePrimaryCtxRelease_v2 CtxGetCurrent
CtxSetCurrent CtxCreate_v2 CtxDestroy_v2 CtxGetDevice LinkCreate_v2
LinkAddData_v2 LinkAddFile_v2 LinkComplete LinkDestroy ModuleLoad
ModuleLoadData ModuleUnload ModuleGetFunction ModuleGetGlobal_v2 LaunchKernel
LaunchCooperativeKernel FuncGetAttribute FuncSetAttribute
OccupancyMaxActiveBlocksPerMultiprocessor OccupancyMaxPotentialBlockSize
StreamGetCtx Init DeviceGet DeviceGetAttribute DevicePrimaryCtxRetain
CtxPushCurrent_v2 CtxPopCurrent_v2 LibraryLoadData LibraryGetKernel
LibraryUnload KernelGetFunction LaunchKernelEx MemcpyAsync MemsetD8Async
GetProcAddress GetProcAddress_v2'''.split()

RUNTIME = '''
CreateSurfaceObject CreateTextureObject DestroySurfaceObject
DestroyTextureObject DeviceCanAccessPeer DeviceDisablePeerAccess
DeviceEnablePeerAccess DeviceGetAttribute DeviceGetByPCIBusId
DeviceGetDefaultMemPool DeviceGetLimit DeviceGetMemPool DeviceGetPCIBusId
DeviceSetLimit DeviceSetMemPool DeviceSynchronize DriverGetVersion
EventCreate EventCreateWithFlags EventDestroy EventElapsedTime EventQuery
EventRecord EventSynchronize Free FreeArray FreeAsync FreeHost
GetChannelDesc GetDevice GetDeviceCount GetErrorName GetErrorString
GetLastError GetTextureObjectResourceDesc GetTextureObjectTextureDesc
GraphDebugDotPrint GraphDestroy GraphExecDestroy GraphInstantiate
GraphLaunch GraphUpload HostAlloc HostRegister HostUnregister
IpcCloseMemHandle IpcGetEventHandle IpcGetMemHandle IpcOpenEventHandle
IpcOpenMemHandle LaunchHostFunc Malloc Malloc3DArray MallocArray MallocAsync
MallocFromPoolAsync MallocManaged MemAdvise MemGetInfo MemPoolCreate
MemPoolDestroy MemPoolGetAttribute MemPoolSetAttribute MemPoolTrimTo
MemPrefetchAsync Memcpy Memcpy2D Memcpy2DAsync Memcpy2DFromArray
Memcpy2DFromArrayAsync Memcpy2DToArray Memcpy2DToArrayAsync Memcpy3D
Memcpy3DAsync MemcpyAsync MemcpyPeer MemcpyPeerAsync Memset MemsetAsync
PointerGetAttributes ProfilerStart ProfilerStop RuntimeGetVersion SetDevice
StreamAddCallback StreamBeginCapture StreamCreate StreamCreateWithFlags
StreamCreateWithPriority StreamDestroy StreamEndCapture StreamGetFlags
StreamGetPriority StreamIsCapturing StreamQuery StreamSynchronize
StreamWaitEvent'''.split()


def attribute(lib: Any, number: int) -> int:
    value = ctypes.c_int()
    assert lib.cudaDeviceGetAttribute(ctypes.byref(value), number, 0) == 0
    return value.value


@pytest.mark.parametrize('name', [
    *('cu' + n for n in DRIVER), *('cuda' + n for n in RUNTIME)])
def test_function_is_exported(lib: Any, name: str) -> None:
    assert hasattr(lib, name)


def test_nothing_internal_is_exported(lib: Any) -> None:
    assert not hasattr(lib, '_ZN4host4failEiPKcz')


@pytest.mark.parametrize('name', [
    'cudaGraphLaunch', 'cudaMallocArray', 'cudaIpcGetMemHandle',
    'cudaCreateTextureObject', 'cuLaunchCooperativeKernel'])
def test_what_is_missing_says_so(lib: Any, name: str) -> None:
    status = getattr(lib, name)(None, None, None, None)
    assert status == hostlib.NOT_SUPPORTED
    assert hostlib.error_text(lib, status) == (
        f'{name} is not implemented on the host device')


def test_device_count_and_version(lib: Any) -> None:
    count, version = ctypes.c_int(), ctypes.c_int()
    assert lib.cudaGetDeviceCount(ctypes.byref(count)) == 0
    lib.cudaRuntimeGetVersion(ctypes.byref(version))
    assert count.value == 1
    assert version.value // 1000 in (12, 13)


def test_other_devices_do_not_exist(lib: Any) -> None:
    for number in (1, -1):
        status = lib.cudaSetDevice(number)
        assert status == hostlib.INVALID_DEVICE
        assert f'ordinal: {number};' in hostlib.error_text(lib, status)


def test_attributes(lib: Any) -> None:
    assert attribute(lib, 75) == 8 and attribute(lib, 76) == 0
    assert attribute(lib, 1) == 1024
    assert attribute(lib, 10) == 32
    assert attribute(lib, 8) == 48 << 10
    assert attribute(lib, 97) == 163 << 10
    assert attribute(lib, 16) == lib.hd_get_num_threads()


def test_unknown_attribute(lib: Any) -> None:
    value = ctypes.c_int()
    status = lib.cudaDeviceGetAttribute(ctypes.byref(value), 9999, 0)
    assert status == hostlib.INVALID_VALUE
    assert '9999' in hostlib.error_text(lib, status)


def test_name_says_what_it_is(lib: Any) -> None:
    name = ctypes.create_string_buffer(256)
    assert lib.cuDeviceGetName(name, 256, 0) == 0
    assert name.value.startswith(b'CuPy host device')
    assert lib.cuDeviceGetName(name, 8, 0) == 0
    assert name.value == b'CuPy ho'


def test_total_memory_is_the_machines(lib: Any) -> None:
    size = ctypes.c_size_t()
    assert lib.cuDeviceTotalMem_v2(ctypes.byref(size), 0) == 0
    pages = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')
    assert 0 < size.value <= pages


def test_pci_bus_id_there_and_back(lib: Any) -> None:
    text, device = ctypes.create_string_buffer(64), ctypes.c_int(7)
    assert lib.cudaDeviceGetPCIBusId(text, 64, 0) == 0
    assert lib.cudaDeviceGetByPCIBusId(ctypes.byref(device), text) == 0
    assert device.value == 0
    assert lib.cudaDeviceGetByPCIBusId(
        ctypes.byref(device), b'0000:99:00.0') == hostlib.INVALID_DEVICE


def test_no_peers(lib: Any) -> None:
    access = ctypes.c_int(5)
    assert lib.cudaDeviceCanAccessPeer(ctypes.byref(access), 0, 0) == 0
    assert access.value == 0
    assert lib.cudaDeviceEnablePeerAccess(0, 0) == hostlib.INVALID_DEVICE
    assert lib.cudaDeviceDisablePeerAccess(0) == 705


def test_limits(lib: Any) -> None:
    value = ctypes.c_size_t()
    lib.cudaDeviceGetLimit(ctypes.byref(value), 0)
    assert value.value == 1024
    assert lib.cudaDeviceSetLimit(0, ctypes.c_size_t(4096)) == 0
    lib.cudaDeviceGetLimit(ctypes.byref(value), 0)
    assert value.value == 4096
    lib.cudaDeviceSetLimit(0, ctypes.c_size_t(1024))
    assert lib.cudaDeviceSetLimit(77, ctypes.c_size_t(1)) == 215


def test_last_error_is_kept_until_asked(lib: Any) -> None:
    lib.cudaGetLastError()
    lib.cudaSetDevice(5)
    lib.cudaSetDevice(0)
    assert lib.cudaPeekAtLastError() == hostlib.INVALID_DEVICE
    assert lib.cudaGetLastError() == hostlib.INVALID_DEVICE
    assert lib.cudaGetLastError() == 0


def test_error_names(lib: Any) -> None:
    assert lib.cudaGetErrorName(801) == b'cudaErrorNotSupported'
    name = ctypes.c_char_p()
    assert lib.cuGetErrorName(801, ctypes.byref(name)) == 0
    assert name.value == b'CUDA_ERROR_NOT_SUPPORTED'
    assert lib.cuGetErrorName(98765, ctypes.byref(name)) == 1


def test_text_of_another_error_is_the_usual_one(lib: Any) -> None:
    lib.cudaSetDevice(5)
    assert hostlib.error_text(lib, 2) == 'out of memory'


def test_contexts(lib: Any) -> None:
    primary, current = ctypes.c_void_p(), ctypes.c_void_p()
    assert lib.cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0) == 0
    assert primary.value
    lib.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value == primary.value
    other = ctypes.c_void_p()
    assert lib.cuCtxCreate_v2(ctypes.byref(other), 0, 0) == 0
    lib.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value == other.value != primary.value
    assert lib.cuCtxDestroy_v2(other) == 0
    assert lib.cuCtxPushCurrent_v2(other) == hostlib.INVALID_HANDLE
    lib.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value == primary.value
    assert lib.cuDevicePrimaryCtxRelease_v2(0) == 0


def test_functions_by_name(lib: Any) -> None:
    address, result = ctypes.c_void_p(), ctypes.c_int()
    for name, wanted in ((b'cuMemAlloc', 'cuMemAlloc_v2'),
                         (b'cuInit', 'cuInit')):
        status = lib.cuGetProcAddress_v2(
            name, ctypes.byref(address), 12000, ctypes.c_uint64(0),
            ctypes.byref(result))
        exported = ctypes.cast(getattr(lib, wanted), ctypes.c_void_p)
        assert (status, result.value) == (0, 0)
        assert address.value == exported.value
    lib.cuGetProcAddress_v2(b'cuNoSuchFunction', ctypes.byref(address),
                            12000, ctypes.c_uint64(0), ctypes.byref(result))
    assert (address.value, result.value) == (None, 1)
