"""What the LLVM functions of one kernel share.

The offsets are those of the structures in ``csrc/kernel_abi.h``.
"""
from __future__ import annotations

from cupy_backends.host.ptx import layout
from cupy_backends.host.ptx import parser
from cupy_backends.host.ptx import syntax

LAUNCH_GRID = 0
LAUNCH_BLOCK = 12
LAUNCH_DYNAMIC_SHARED = 24
LAUNCH_GLOBALS = 32
LAUNCH_PARAMS = 40
BLOCK_SHARED = 0
BLOCK_CTAID = 8
BLOCK_WORKER = 20
BLOCK_FAULT = 24

# No order of accesses of different threads is promised.
PARALLEL = ', !llvm.access.group !1'


class Program:
    """State of the translation of one kernel.

    Attributes:
        table (SymbolTable): The module.
        arena (Arena): Its variables.
        kernel (Function): The kernel.
        params (dict): Offset of each kernel parameter.
        param_layout (Layout): The same with the size.
        shared (Layout): Shared variables of the kernel and all functions
            it calls; complete before anything is written.
        declares (dict): Declarations of external functions, by name.
        metadata (list of str): Metadata nodes of the module.
        called (dict): Device functions to write, in order of first call.
    """

    def __init__(self, table: parser.SymbolTable, arena: layout.Arena,
                 kernel: syntax.Function,
                 shared: layout.Layout) -> None:
        self.table = table
        self.arena = arena
        self.kernel = kernel
        self.param_layout = layout.lay_out(kernel.params)
        self.params = self.param_layout.offsets
        self.shared = shared
        self.declares: dict[str, str] = {}
        self.called: dict[str, syntax.Function] = {}
        self.metadata = [
            '!0 = !{}', '!1 = distinct !{}',
            '!2 = !{!"llvm.loop.parallel_accesses", !1}',
            '!3 = !{!"llvm.loop.vectorize.enable", i1 false}']

    def loop_metadata(self, kind: str = '') -> str:
        """Returns metadata for the branch that closes a loop.

        Args:
            kind (str): ``'parallel'`` if each iteration is another thread's
                and its accesses are marked with :data:`PARALLEL`;
                ``'scalar'`` if there is no use in vectorising it.
        """
        number = len(self.metadata)
        more = {'parallel': ', !2', 'scalar': ', !3', '': ''}[kind]
        self.metadata.append(f'!{number} = distinct !{{!{number}{more}}}')
        return f', !llvm.loop !{number}'
