"""Kernels given as LLVM IR."""
from __future__ import annotations

import ctypes
from typing import Any

import hostlib
import llvmlite.binding as llvm


class Native:
    """A straight kernel of machine code.

    Args:
        body (str): LLVM instructions of
            ``void k(ptr %launch, ptr %block, i64 %first, i64 %end)``.
    """

    def __init__(self, body: str, **fields: Any) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module = llvm.parse_assembly(
            'define void @k(ptr %launch, ptr %block, i64 %first, i64 %end)'
            f' {{\n{body}\n}}\ndeclare void @llvm.trap()')
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.struct = hostlib.Kernel(
            abi_version=1, max_threads_per_block=1024, name=b'native',
            entry=self._engine.get_function_address('k'), **fields)

    def run(self, lib: Any, grid: int = 1) -> int:
        status: int = lib.hd_run_kernel(
            ctypes.byref(self.struct), hostlib.dim3(grid), hostlib.dim3(32),
            0, None, None)
        return status
