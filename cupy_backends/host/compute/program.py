"""Compiles CUDA C++ with operators, and launches its kernels."""
from __future__ import annotations

import ctypes
import importlib
from typing import Any

from cupy_backends.host.compute import code
from cupy_backends.host.runtime import missing

_BLOCK = 128
# Elements that one thread works through, at least.
_CHUNK = 512


class Chunks:
    """How elements are divided among threads.

    Attributes:
        MAX (int): How many chunks there are at most.
        size (int): Elements of a chunk.
        count (int): Chunks.
    """

    MAX = 4096

    def __init__(self, n: int) -> None:
        self.size = max(_CHUNK, -(-n // self.MAX))
        self.count = -(-n // self.size)


class Program:
    """Kernels that are linked and loaded.

    Args:
        source (Source): The text, and what it is linked with.
        info (CommonData): Compute capability and include paths.
    """

    def __init__(self, source: code.Source, info: Any) -> None:
        self._core = importlib.import_module('cuda.core')
        self._driver = importlib.import_module('cuda.bindings.driver')
        self._info = info
        major, minor = info.compute_capability
        self._arch = f'sm_{major}{minor}'
        objects = [self._compile(source.text)]
        objects += map(self._object, source.codes)
        options = self._core.LinkerOptions(
            arch=self._arch, link_time_optimization=True, ptx=True)
        ptx = self._core.Linker(*objects, options=options).link('ptx')
        self._module = self._core.ObjectCode.from_ptx(bytes(ptx.code))
        self._kernels: dict[str, Any] = {}

    def _compile(self, text: str) -> Any:
        options = self._core.ProgramOptions(
            arch=self._arch, link_time_optimization=True,
            relocatable_device_code=True, std='c++17',
            include_path=[self._info.ctk_path.removeprefix('-I')])
        return self._core.Program(text, 'c++', options).compile('ltoir')

    def _object(self, device_code: Any) -> Any:
        if device_code.kind == 'ltoir':
            return self._core.ObjectCode.from_ltoir(device_code.op_bytes)
        if device_code.kind == 'cpp_source':
            return self._compile(device_code.op_bytes.decode())
        raise missing.NotOnHostDevice(
            f'operators of cuda.compute as {device_code.kind} are not '
            'implemented on the host device', name='cuda.compute')

    def launch(self, name: str, threads: int, stream: Any,
               *args: bytes | int) -> None:
        """Runs a kernel with at least that many threads.

        Args:
            args: Bytes of a structure, or a 64-bit integer.
        """
        if not threads:
            return
        values = [a.to_bytes(8, 'little', signed=True)
                  if isinstance(a, int) else a for a in args]
        buffers = [ctypes.create_string_buffer(v, len(v)) for v in values]
        pointers = (ctypes.c_void_p * len(buffers))(
            *map(ctypes.addressof, buffers))
        driver = self._driver
        status, = driver.cuLaunchKernel(
            self._kernel(name), -(-threads // _BLOCK), 1, 1,
            min(threads, _BLOCK), 1, 1, 0, int(stream or 0),
            ctypes.addressof(pointers), 0)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(
                f'cuda.compute: {driver.cuGetErrorString(status)[1].decode()}')

    def _kernel(self, name: str) -> Any:
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._module.get_kernel(name)
            self._kernels[name] = kernel
        return kernel.handle


class BuildResult:
    """What ``cuda.compute`` knows of all build results."""

    _program: Program
    _loaded = True

    def load(self) -> None:
        """Does nothing: it is loaded."""

    @classmethod
    def compile(cls, *args: Any) -> BuildResult:
        return cls(*args)

    def serialize(self) -> bytes:
        raise missing.NotOnHostDevice(
            'algorithms of cuda.compute cannot be saved on the host device',
            name='cuda.compute')
