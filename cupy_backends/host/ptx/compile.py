"""From PTX text to LLVM IR: the translator's front door."""
from __future__ import annotations

from typing import Any, NamedTuple

from cupy_backends.host.ptx import body as body_
from cupy_backends.host.ptx import cfg
from cupy_backends.host.ptx import devfunc
from cupy_backends.host.ptx import errors
from cupy_backends.host.ptx import flat
from cupy_backends.host.ptx import gridloop
from cupy_backends.host.ptx import inline
from cupy_backends.host.ptx import laneloops
from cupy_backends.host.ptx import layout
from cupy_backends.host.ptx import ops  # NOQA: F401  (fills the tables)
from cupy_backends.host.ptx import parser
from cupy_backends.host.ptx import phases
from cupy_backends.host.ptx import program
from cupy_backends.host.ptx import straight
from cupy_backends.host.ptx import syntax

_ATTRIBUTES = '''
attributes #0 = { nounwind "no-trapping-math"="true" }
attributes #1 = { nounwind inlinehint "no-trapping-math"="true" }
'''


class Kernel(NamedTuple):
    """A translated kernel; everything but ``ir`` fits into JSON.

    Attributes:
        name (str): Name.
        ir (str): LLVM module as text.
        functions (tuple of str): LLVM functions: one for a straight
            kernel, one per resume point for a phase kernel.
        stops (tuple): Fields of ``hd_stop`` for each stop, empty for a
            straight kernel.
        frame_bytes (int): Size of a warp's frame.
        static_shared (int): Bytes of shared memory before the dynamic part.
        params (tuple): Pairs (offset, size) of the parameters.
        param_bytes (int): Size of the parameter block.
        local_bytes (int): ``.local`` memory per thread.
        max_threads (int): Most threads per block that the kernel allows.
        vectorise (bool): Whether it has a loop that may be vectorised.
    """

    name: str
    ir: str
    functions: tuple[str, ...]
    stops: tuple[tuple[int, ...], ...]
    frame_bytes: int
    static_shared: int
    params: tuple[tuple[int, int], ...]
    param_bytes: int
    local_bytes: int
    max_threads: int
    vectorise: bool

    @classmethod
    def from_json(cls, fields: list[Any]) -> Kernel:
        """Returns the kernel that JSON has turned into lists."""
        return cls(*(_tuples(field) for field in fields))


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    return value


class Module:
    """A PTX module: its symbols, and kernels translated when asked for.

    Args:
        text (str): PTX text.

    Raises:
        PTXSyntaxError: The text is not PTX.

    Attributes:
        table (SymbolTable): All declarations.
        arena (Arena): Layout and contents of the module's variables.
    """

    def __init__(self, text: str) -> None:
        self.table = parser.parse_module(text)
        self.arena = layout.arena(self.table)
        self._bodies: dict[str, syntax.Body] = {}

    @property
    def kernels(self) -> list[str]:
        """Names of the kernels."""
        return [f.name for f in self.table.functions.values()
                if f.is_entry and not f.is_declaration]

    @property
    def arena_size(self) -> int:
        return self.arena.size

    @property
    def arena_init(self) -> bytes:
        return self.arena.init

    @property
    def relocations(self) -> list[tuple[int, int]]:
        return self.arena.relocations

    def global_address(self, name: str) -> tuple[int, int]:
        """Returns offset and size in bytes of a variable.

        Raises:
            UnknownSymbol: The module has no such variable.
        """
        if name not in self.arena.offsets:
            raise errors.UnknownSymbol(
                f'the module has no global variable {name}')
        return self.arena.offsets[name], self.table.variables[name].size

    def kernel(self, name: str) -> syntax.Function:
        """Returns the declaration of a kernel.

        Raises:
            UnknownSymbol: The module has no such kernel.
        """
        function = self.table.functions.get(name)
        if function is None or not function.is_entry:
            raise errors.UnknownSymbol(f'the module has no kernel {name}')
        return function

    def body(self, function: syntax.Function) -> syntax.Body:
        found = self._bodies.get(function.name)
        if found is None:
            found = body_.parse_body(self.table.text, function)
            self._bodies[function.name] = found
        return found

    def translate(self, name: str) -> Kernel:
        """Translates one kernel.

        Raises:
            UnknownSymbol: The module has no such kernel.
            UnsupportedInstruction: It uses what is not supported.
            PTXSyntaxError: Its body is not PTX.
        """
        return _Translation(self, self.kernel(name)).run()


_Code = tuple[list[str], phases.Result]


class _Translation:
    """Translates one kernel with the functions it calls."""

    def __init__(self, module: Module, kernel: syntax.Function) -> None:
        self.module = module
        self.kernel = kernel
        self.reachable = inline.reachable(module.table, kernel, module.body)
        self.body = inline.expand(module.table, kernel, self.reachable)
        self.program = program.Program(
            module.table, module.arena, kernel, self._shared())

    def _shared(self) -> layout.Layout:
        """Lays out shared variables: the module's, then the functions'."""
        found = [v for v in self.module.table.variables.values()
                 if v.space == 'shared']
        for body in (self.body, *self.reachable.values()):
            found += [v for v in body.variables.values()
                      if v.space == 'shared']
        return layout.lay_out_shared({v.name: v for v in found}.values())

    def run(self) -> Kernel:
        graph = cfg.build(self.body, self.module.table.text)
        texts, result = self._flat(graph) or self._other(graph)
        texts += self._functions()
        texts += self.program.declares.values()
        texts += [_ATTRIBUTES, *self.program.metadata]
        return self._kernel('\n'.join(texts), result)

    def _flat(self, graph: cfg.Graph) -> _Code | None:
        loop = gridloop.find(graph, self.body,
                             frozenset(self.program.params))
        if loop is None:
            return None
        texts, vectorise = flat.write(self.program, self.body, loop)
        return texts, phases.Result((straight.NAME,), (), 0, vectorise)

    def _other(self, graph: cfg.Graph) -> _Code:
        loops = laneloops.insert_stops(
            graph, self.body, frozenset(self.program.params))
        if any(block.term.kind == 'stop' for block in graph.blocks.values()):
            return phases.write(self.program, self.body, graph, loops)
        text = straight.write(self.program, self.body, graph)
        return [text], phases.Result((straight.NAME,), (), 0, True)

    def _functions(self) -> list[str]:
        """Writes the functions called, and those that they call."""
        texts = []
        written: set[str] = set()
        while left := [f for f in self.program.called.values()
                       if f.name not in written]:
            function = left[0]
            written.add(function.name)
            texts.append(devfunc.write(
                self.program, function, self.reachable[function.name]))
        return texts

    def _kernel(self, ir: str, result: phases.Result) -> Kernel:
        layout_ = self.program.param_layout
        params = tuple((layout_.offsets[v.name], v.size)
                       for v in self.kernel.params)
        return Kernel(
            self.kernel.name, ir, result.functions, result.stops,
            result.frame_bytes, self.program.shared.size, params,
            layout_.size, self._local_bytes(), self._max_threads(),
            result.vectorise)

    def _local_bytes(self) -> int:
        return sum(v.size for v in self.body.variables.values()
                   if v.space == 'local')

    def _max_threads(self) -> int:
        """Returns the limit of ``.maxntid`` or ``.reqntid``, else 1024."""
        attributes = self.kernel.attributes
        sizes = attributes.get('reqntid') or attributes.get('maxntid')
        product = 1
        for size in sizes or (1024,):
            product *= size
        return product
