"""Runs single forms of the op table over NumPy arrays, without a parser.

A *program* is a list of steps ``(opcode, destinations, sources)``; a source
is the name of an input or of an earlier destination, or an ``int`` for an
immediate operand.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
import ctypes
from typing import Any

import llvmlite.binding as llvm
import numpy

from cupy_backends.host.ptx import builder
from cupy_backends.host.ptx import dtypes
from cupy_backends.host.ptx import ops  # noqa: F401 (fills the table)
from cupy_backends.host.ptx import optable

Step = tuple[str, Sequence[str], Sequence[Any]]

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

_DTYPES = {'f16': 'f2', 'f32': 'f4', 'f64': 'f8', 'pred': '?'}


def numpy_dtype(ptx: dtypes.PTXType) -> numpy.dtype[Any]:
    """Returns the dtype that carries a PTX type: floats and predicates as
    such, packed and bf16 values as unsigned integers."""
    if ptx.name in _DTYPES:
        return numpy.dtype(_DTYPES[ptx.name])
    kind = 'i' if ptx.kind == 's' else 'u'
    return numpy.dtype(f'{kind}{ptx.size}')


def apply(opcode: str, *sources: Any) -> Any:
    """Applies one form elementwise.

    Args:
        opcode (str): Full opcode.
        sources: One array per source operand (broadcast against each
            other), or an ``int`` for an immediate operand.

    Returns:
        The destination array, or a tuple of them when there are several.
    """
    form = optable.TABLE[opcode]
    arrays = {f's{k}': (t.name, s)
              for k, (t, s) in enumerate(zip(form.srcs, sources, strict=True))
              if not isinstance(s, int)}
    names = [s if isinstance(s, int) else f's{k}'
             for k, s in enumerate(sources)]
    dests = [f'd{k}' for k in range(len(form.dests))]
    found = run([(opcode, dests, names)], arrays, dests)
    return found[0] if len(found) == 1 else tuple(found)


def run(steps: Sequence[Step], inputs: Mapping[str, tuple[str, Any]],
        outputs: Sequence[str]) -> list[Any]:
    """Runs a program for every element.

    Args:
        steps: The program.
        inputs: PTX type name and array of each input, by name.
        outputs: Names of the values to return.
    """
    types = {name: dtypes.TYPES[t] for name, (t, _) in inputs.items()}
    arrays = numpy.broadcast_arrays(*(
        numpy.asarray(a).view(numpy_dtype(types[n])) if
        numpy.asarray(a).dtype.itemsize == numpy_dtype(types[n]).itemsize
        else numpy.asarray(a, dtype=numpy_dtype(types[n]))
        for n, (_, a) in inputs.items()))
    arrays = [numpy.ascontiguousarray(a) for a in arrays]
    for opcode, dests, _ in steps:
        types.update(zip(dests, optable.TABLE[opcode].dests, strict=True))
    results = [numpy.zeros(arrays[0].shape, numpy_dtype(types[n]))
               for n in outputs]
    text = _module(steps, list(inputs), types, outputs)
    _call(text, arrays[0].size, arrays + results)
    return results


def _module(steps: Sequence[Step], inputs: Sequence[str],
            types: Mapping[str, dtypes.PTXType],
            outputs: Sequence[str]) -> str:
    b = builder.Builder()
    values = {name: _load(b, types[name], f'%p{k}')
              for k, name in enumerate(inputs)}
    for opcode, dests, sources in steps:
        form = optable.TABLE[opcode]
        found = form.function(b, form, *(
            str(s) if isinstance(s, int) else values[s] for s in sources))
        values.update(zip(
            dests, found if isinstance(found, tuple) else (found,),
            strict=True))
    for k, name in enumerate(outputs, len(inputs)):
        _store(b, types[name], values[name], f'%p{k}')
    parameters = ''.join(
        f', ptr %p{k}' for k in range(len(inputs) + len(outputs)))
    return '\n'.join([
        *b.declares.values(),
        f'define void @f(i64 %n{parameters}) {{', 'entry:', '  br label %head',
        'head:', '  %k = phi i64 [0, %entry], [%next, %last]',
        '  %go = icmp ult i64 %k, %n',
        '  br i1 %go, label %body, label %done', 'body:', *b.lines,
        '  br label %last', 'last:', '  %next = add i64 %k, 1',
        '  br label %head', 'done:', '  ret void', '}'])


def _load(b: builder.Builder, ptx: dtypes.PTXType, pointer: str) -> str:
    llvm_type = 'i8' if ptx.kind == 'pred' else ptx.llvm
    where = b.inst(f'getelementptr {llvm_type}, ptr {pointer}, i64 %k')
    value = b.inst(f'load {llvm_type}, ptr {where}')
    return b.cast('trunc', value, llvm_type, ptx.llvm)


def _store(b: builder.Builder, ptx: dtypes.PTXType, value: str,
           pointer: str) -> None:
    llvm_type = 'i8' if ptx.kind == 'pred' else ptx.llvm
    value = b.cast('zext', value, ptx.llvm, llvm_type)
    where = b.inst(f'getelementptr {llvm_type}, ptr {pointer}, i64 %k')
    b.stmt(f'store {llvm_type} {value}, ptr {where}')


def _call(text: str, size: int, arrays: Sequence[Any]) -> None:
    module = llvm.parse_assembly(text)
    module.verify()
    # One machine per engine: an engine owns the machine it is given.
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(), opt=1)
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    prototype = ctypes.CFUNCTYPE(
        None, ctypes.c_int64, *[ctypes.c_void_p] * len(arrays))
    function = prototype(engine.get_function_address('f'))
    function(size, *(a.ctypes.data for a in arrays))
