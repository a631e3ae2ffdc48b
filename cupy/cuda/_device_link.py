"""Links device functions of other compilers into the kernels of NVRTC.

A kernel declares such a function under its *symbol*, which contains a digest
of all that the function depends on, and calls it. Source with a symbol in it
is compiled to LTO-IR, nvJitLink links the two, and the call is inlined as if
the function had been written in the kernel. The source is the key of CuPy's
kernel cache, so that the digest keeps the cache right.
"""
from __future__ import annotations

import hashlib
import re

from cupy.cuda import compiler
from cupy.cuda import function


PREFIX = 'cupy_linked_'
_SYMBOL = re.compile(PREFIX + '[0-9a-f]{32}')

# Symbol -> callable that returns the LTO-IR for a compute capability.
_providers = {}


def symbol(key):
    """Returns the symbol of the function with this description.

    Args:
        key (str): All that determines what the function computes.
    """
    return PREFIX + hashlib.sha256(key.encode()).hexdigest()[:32]


def register(name, provider):
    """Makes a function available to kernels.

    Args:
        name (str): The symbol under which the LTO-IR defines it.
        provider (callable): Called with a compute capability, as in
            ``(9, 0)``; returns a list of LTO-IR as bytes. It is not called
            if the kernel cache has the linked kernel.
    """
    _providers[name] = provider


def load_module(source, options, arch, extra_source, name_expressions,
                log_stream, jitify, cache_in_memory):
    """Same as CuPy's compiler for source that contains a symbol.

    Returns:
        cupy.cuda.Module: The loaded module.
    """
    arch = arch or compiler._get_arch()
    target, kind = compiler._get_arch_for_options_for_nvrtc(arch)
    options += ('-dlto', '-rdc=true')
    expressions = sorted(name_expressions or ())
    name = _cache_name(source, extra_source, options, target, expressions)
    backend = None if cache_in_memory else compiler._kernel_cache_backend
    payload = backend.load(name) if backend else None
    found = payload and compiler._decode_cache_payload(
        payload, len(expressions))
    if not found:
        kernel, mapping = compiler._compile_using_nvrtc_no_warning(
            source, options, filename=f'{name}.cu', method='lto', arch=arch,
            jitify=jitify, cache_in_memory=cache_in_memory,
            log_stream=log_stream, name_expressions=name_expressions)
        found = ([mapping[x] for x in expressions],
                 _link([kernel, *_functions(source, arch)], arch, kind))
        if backend:
            backend.save(
                name, compiler._encode_cache_payload(*found), source)
    module = function.Module()
    module.load(found[1])
    if expressions:
        module._set_mapping(dict(zip(expressions, found[0])))
    return module


def _cache_name(source, extra_source, options, target, expressions):
    key = (source, extra_source, options, target, expressions,
           compiler._get_nvrtc_version(), linker_version(),
           compiler._get_cupy_cache_key())
    digest = hashlib.sha256(repr(key).encode()).hexdigest()
    return f'{digest[:40]}.cubin'


def _functions(source, arch):
    for name in sorted(set(_SYMBOL.findall(source))):
        if name not in _providers:
            raise RuntimeError(
                f'the kernel calls {name}, which no function of this process '
                'provides. Make the function (cupyx.numba.device_function) '
                'before the kernel.')
        yield from _providers[name]((int(arch[:-1]), int(arch[-1])))


def linker_version():
    """Returns nvJitLink's version; it reads no LTO-IR of a newer CUDA."""
    return _nvjitlink().version()


def _nvjitlink():
    try:
        from cuda.bindings import nvjitlink
        nvjitlink.version()
    except (ImportError, RuntimeError) as error:
        raise ImportError(
            'nvJitLink links functions of other compilers into kernels, and '
            f'it is not there ({error}). Install it for your CUDA version: '
            "pip install cuda-bindings 'cuda-toolkit[nvjitlink]'") from error
    return nvjitlink


def _link(parts, arch, kind):
    """Links LTO-IR to a cubin, or to PTX where CuPy loads PTX."""
    nvjitlink = _nvjitlink()
    options = [f'-arch=sm_{arch}', '-lto']
    if kind == 'ptx':
        options.append('-ptx')
    handle = nvjitlink.create(len(options), options)
    try:
        for part in dict.fromkeys(parts):  # two may need the same one
            nvjitlink.add_data(
                handle, nvjitlink.InputType.LTOIR, part, len(part), 'part')
        nvjitlink.complete(handle)
        size, get = {
            'ptx': (nvjitlink.get_linked_ptx_size, nvjitlink.get_linked_ptx),
            'cubin': (nvjitlink.get_linked_cubin_size,
                      nvjitlink.get_linked_cubin),
        }[kind]
        linked = bytearray(size(handle))
        get(handle, linked)
    except nvjitlink.nvJitLinkError as error:
        log = bytearray(nvjitlink.get_error_log_size(handle))
        nvjitlink.get_error_log(handle, log)
        raise RuntimeError(
            f'{error}\n{log.decode(errors="replace")}') from error
    finally:
        nvjitlink.destroy(handle)
    return bytes(linked).rstrip(b'\0') if kind == 'ptx' else bytes(linked)
