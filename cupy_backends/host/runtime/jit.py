"""Machine code of translated kernels: LLVM, the disk cache, loading.

Object code holds no addresses of data, so it may be kept on disk and
loaded by another process on the same kind of CPU.
"""
from __future__ import annotations

import functools
import hashlib
from pathlib import Path
import threading

import llvmlite
import llvmlite.binding as llvm

from cupy_backends.host.ptx import compile as compile_
from cupy_backends.host.ptx import slices
from cupy_backends.host.runtime import cache

# LLVM's parser and its code generator for one target are not meant to be
# entered by several threads at a time through llvmlite.
_lock = threading.Lock()

# Length of IR, in characters, from which on compiling it costs more than
# running it better could save.
_LARGE = 80_000


@functools.cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


# What x86-64 lacks without them LLVM would call from a library.
_NEEDED = ('f16c', 'fma', 'sse4.1')


@functools.cache
def host() -> tuple[str, str]:
    """Returns the name and the features of the CPU, as LLVM spells them.

    Raises:
        RuntimeError: It lacks instructions that the code needs.
    """
    features = llvm.get_host_cpu_features()
    missing = [name for name in _NEEDED if not features.get(name, True)]
    if missing:
        raise RuntimeError(
            'the host device needs a CPU with the instructions '
            f'{", ".join(missing)} (x86-64 has them since 2013)')
    return llvm.get_host_cpu_name(), features.flatten()


def _target_machine() -> llvm.TargetMachine:
    # One for each use: an engine takes its target machine along when it is
    # collected.
    _initialise()
    name, features = host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=name, features=features, opt=2, reloc='pic', codemodel='default',
        jit=True)


def object_code(kernel: compile_.Kernel) -> bytes:
    """Compiles a kernel.

    Args:
        kernel (Kernel): A translated kernel.
    """
    with _lock:
        _initialise()
        module = llvm.parse_assembly(kernel.ir)
        module.verify()  # or LLVM's passes may end the process
        machine = _target_machine()
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        _optimise(module, machine, kernel)
        code: bytes = machine.emit_object(module)
        return code


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine,
              kernel: compile_.Kernel) -> None:
    """Optimises as much as the kernel is worth.

    NVRTC has optimised the code before; what is left to do is to vectorise
    it, and to clean up what the translation has made of it.
    """
    vectorise = kernel.vectorise and len(kernel.ir) < _LARGE
    options = llvm.create_pipeline_tuning_options(
        speed_level=2 if vectorise else 1)
    options.loop_vectorization = vectorise
    options.slp_vectorization = vectorise
    options.loop_unrolling = vectorise
    builder = llvm.create_pass_builder(machine, options)
    if len(kernel.ir) < _LARGE:
        passes = builder.getModulePassManager()
    else:
        passes = _clean_up_only()
    passes.run(module, builder)


def _clean_up_only() -> llvm.ModulePassManager:
    """Returns passes for large kernels, for which LLVM's pipelines take
    five times as long and make them hardly faster."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_new_gvn_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_aggressive_dce_pass()
    return passes


class Code:
    """A kernel's code in memory; it goes when this object does.

    Args:
        name (str): The kernel's name.
        image (bytes): Object code.
        functions (tuple of str): The symbols wanted.

    Attributes:
        addresses (tuple of int): Address of each.
    """

    def __init__(self, name: str, image: bytes,
                 functions: tuple[str, ...]) -> None:
        with _lock:
            _initialise()
            self._engine = _new_engine()
            self._engine.add_object_file(
                llvm.ObjectFileRef.from_data(image))
            self._engine.finalize_object()
            self.addresses = tuple(
                self._engine.get_function_address(f) for f in functions)
        if not all(self.addresses):
            raise RuntimeError(f'the object code of {name} lacks a function')


def _new_engine() -> llvm.ExecutionEngine:
    module = llvm.parse_assembly('')
    return llvm.create_mcjit_compiler(module, _target_machine())


@functools.cache
def _version() -> bytes:
    """Returns a hash of all that decides how a kernel is translated."""
    digest = hashlib.sha256(llvmlite.__version__.encode())
    digest.update(repr(host()).encode())
    root = Path(compile_.__file__).parent
    for path in sorted(root.rglob('*.py')):
        digest.update(path.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.digest()


def cache_key(module: compile_.Module, name: str) -> str:
    """Returns the key of a kernel's code in the disk cache.

    It covers the kernel's own part of the module only, so that the same
    kernel in another module may be found.
    """
    digest = hashlib.sha256(_version())
    text = slices.relevant_text(module.table, module.arena, name)
    digest.update(text.encode())
    return digest.hexdigest()


def compile_kernel(module: compile_.Module,
                   name: str) -> tuple[compile_.Kernel, bytes]:
    """Translates and compiles a kernel, or takes it from the disk cache.

    Returns:
        tuple: The kernel (without IR when it came from the cache) and its
        object code.

    Raises:
        PTXError: As :meth:`~.compile.Module.translate`.
    """
    key = cache_key(module, module.kernel(name).name)
    entry = cache.load(key)
    if entry is not None:
        return compile_.Kernel.from_json(entry[0]), entry[1]
    kernel = module.translate(name)
    image = object_code(kernel)
    cache.store(key, kernel._replace(ir=''), image)
    return kernel, image
