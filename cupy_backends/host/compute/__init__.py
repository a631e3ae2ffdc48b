"""Algorithms of ``cuda.compute`` on the host device.

``cuda.compute`` (PyPI: cuda-cccl) compiles its algorithms to machine code
for a GPU.  These take the place of its build results, one class for each
algorithm: CUDA C++ of our own around the caller's operators and iterators,
which come as LTO-IR.  NVRTC and nvJitLink make PTX of both.

They are for some threads, each of which works through elements in turn.
"""
from __future__ import annotations

import types
from types import ModuleType

from cupy_backends.host.compute import partition
from cupy_backends.host.compute import reduce
from cupy_backends.host.compute import scan
from cupy_backends.host.compute import search
from cupy_backends.host.compute import sort
from cupy_backends.host.compute import transform
from cupy_backends.host.runtime import missing

_ALGORITHMS = {
    'DeviceReduceBuildResult': reduce.Reduce,
    'DeviceSegmentedReduceBuildResult': reduce.SegmentedReduce,
    'DeviceScanBuildResult': scan.Scan,
    'DeviceMergeSortBuildResult': sort.MergeSort,
    'DeviceRadixSortBuildResult': sort.RadixSort,
    'DeviceSegmentedSortBuildResult': sort.SegmentedSort,
    'DeviceUniqueByKeyBuildResult': partition.UniqueByKey,
    'DeviceBinarySearchBuildResult': search.BinarySearch,
    'DeviceHistogramBuildResult': search.Histogram,
    'DeviceThreeWayPartitionBuildResult': partition.ThreeWayPartition,
    'DeviceUnaryTransform': transform.UnaryTransform,
    'DeviceBinaryTransform': transform.BinaryTransform,
}


def allocate_by_driver(buffers: ModuleType) -> None:
    """Lets ``cuda.compute`` get temporary storage from the driver API.

    It asks the runtime API that is linked into ``cuda.bindings``, which
    works with NVIDIA's driver alone.

    Args:
        buffers: ``cuda.compute._utils.temp_storage_buffer``
    """
    buffers.__dict__['runtime'] = types.SimpleNamespace(
        cudaMallocAsync=lambda size, stream: buffers.driver.cuMemAllocAsync(
            size, stream or 0),
        cudaFreeAsync=lambda pointer, stream: buffers.driver.cuMemFreeAsync(
            pointer, stream or 0))


def install(bindings: ModuleType) -> None:
    """Puts the algorithms in place; those that are missing here raise.

    Args:
        bindings: ``cuda.compute._bindings``

    Raises:
        NotOnHostDevice: Later, when another algorithm is built.
    """
    missing.refuse_algorithms(bindings)
    for name, algorithm in _ALGORITHMS.items():
        if hasattr(bindings, name):
            setattr(bindings, name, algorithm)
