"""Builds the host device: its shared libraries and its extension modules.

``host_build.toml`` beside this file lists what is built of what.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import os
import re
import shlex
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cupy_overlay import _compile
from cupy_overlay import _log
from cupy_overlay import _toml
from cupy_overlay._config import Config

HOST = 'cupy_backends/host'
LIBRARIES = f'{HOST}/lib'
MODULES = f'{HOST}/modules'


@dataclasses.dataclass(frozen=True)
class Target:
    """A library or module of ``host_build.toml``; sources lie in the tree."""

    name: str
    sources: tuple[str, ...]
    needs: tuple[str, ...]
    link: tuple[str, ...]
    exports: str = ''


@dataclasses.dataclass(frozen=True)
class Plan:
    """The whole of ``host_build.toml``, for one tree."""

    flags: tuple[str, ...]
    include: tuple[str, ...]
    quote: tuple[str, ...]
    libraries: tuple[Target, ...]
    modules: tuple[Target, ...]

    @property
    def quote_flags(self) -> list[str]:
        """Flags for headers that only ``#include "…"`` is to find."""
        return [word for folder in self.quote for word in ('-iquote', folder)]


def load(tree: Path) -> Plan:
    """Reads the plan for a tree.

    Raises:
        CompileError: a target's sources are missing.
    """
    data = _toml.load(Path(__file__).with_name('host_build.toml'))
    compile_ = data['compile']
    return Plan(
        tuple(compile_['flags']),
        tuple(f'{HOST}/{folder}' for folder in compile_['include']),
        tuple(f'{HOST}/{folder}' for folder in compile_['quote']),
        tuple(_target(t, t['soname'], tree) for t in data['library']),
        tuple(_target(t, t['name'], tree) for t in data['module']))


def _target(table: dict[str, Any], name: str, tree: Path) -> Target:
    found: set[str] = set()
    for pattern in table.get('sources', ()):
        paths = list((tree / HOST).glob(pattern))
        if not paths:
            raise _compile.CompileError(
                f'{name} cannot be built: there is no {HOST}/{pattern}')
        found.update(path.relative_to(tree).as_posix() for path in paths)
    return Target(name, tuple(sorted(found)), tuple(table.get('needs', ())),
                  tuple(table.get('link', ())),
                  f'{HOST}/{table["exports"]}' if 'exports' in table else '')


# Libraries -------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class _Builder:
    """What the compilations of one tree have in common."""

    config: Config
    tree: Path
    plan: Plan
    cuda_include: Path

    @property
    def objects(self) -> Path:
        return self.config.work / 'host-objects'

    @property
    def libraries(self) -> Path:
        return self.config.work / 'host-lib'

    def compiler(self) -> list[str]:
        return shlex.split(os.environ.get('CXX')
                           or sysconfig.get_config_var('CXX') or 'c++')


def build_libraries(config: Config, tree: Path, plan: Plan,
                    cuda_include: Path) -> dict[str, Path]:
    """Builds the shared libraries that are not up to date.

    Returns:
        File names relative to an installation, and where the files are.
    """
    builder = _Builder(config, tree, plan, cuda_include)
    builder.libraries.mkdir(parents=True, exist_ok=True)
    sources = [source for target in plan.libraries
               for source in target.sources]
    with concurrent.futures.ThreadPoolExecutor(config.jobs) as pool:
        list(pool.map(lambda source: _object(builder, source), sources))
    built = {}
    for target in plan.libraries:
        path = _library(builder, target)
        built[f'{LIBRARIES}/{target.name}'] = path
    return built


def _object(builder: _Builder, source: str) -> Path:
    """Compiles a source file unless its inputs are those of last time."""
    output = _object_path(builder, source)
    include = [f'-I{folder}' for folder in builder.plan.include]
    command = [*builder.compiler(), *builder.plan.flags, *include,
               *builder.plan.quote_flags,
               '-isystem', str(builder.cuda_include),
               f'-ffile-prefix-map={builder.tree}=.', '-c', source]
    key = output.with_suffix('.key')
    depends = output.with_suffix('.d')
    if not _is_current(output, key, command, _listed(builder, depends)):
        _log.step('compiling', source.removeprefix(f'{HOST}/'))
        output.parent.mkdir(parents=True, exist_ok=True)
        _run([*command, '-MD', '-MF', str(depends), '-o', str(output)],
             builder.tree)
        key.write_text(_key(command, _listed(builder, depends)), 'utf-8')
    return output


def _object_path(builder: _Builder, source: str) -> Path:
    return (builder.objects / source).with_suffix('.o')


def _library(builder: _Builder, target: Target) -> Path:
    output = builder.libraries / target.name
    objects = [_object_path(builder, source) for source in target.sources]
    command = [*builder.compiler(), '-shared', '-Wl,-z,defs',
               f'-Wl,-soname,{target.name}', '-Wl,-rpath,$ORIGIN',
               *(path.relative_to(builder.objects).as_posix()
                 for path in objects),
               *_needed(builder.libraries, target), *target.link]
    key = builder.libraries / f'{target.name}.key'
    inputs = objects + [builder.libraries / name for name in target.needs]
    if target.exports:
        inputs.append(builder.tree / target.exports)
        command.append(f'-Wl,--version-script={inputs[-1]}')
    if not _is_current(output, key, command, inputs):
        _log.step('linking', target.name)
        _run([*command, '-o', str(output)], builder.objects)
        key.write_text(_key(command, inputs), 'utf-8')
    return output


def _needed(libraries: Path, target: Target) -> list[str]:
    names = [f'-l:{name}' for name in target.needs]
    return [f'-L{libraries}', *names] if names else []


def _listed(builder: _Builder, depends: Path) -> list[Path]:
    """The inputs that the compiler wrote down, as a make rule."""
    if not depends.is_file():
        return []
    text = depends.read_text('utf-8').replace('\\\n', ' ')
    words = re.split(r'(?<!\\)\s+', text.partition(': ')[2].strip())
    return [builder.tree / word.replace('\\ ', ' ') for word in words]


def _is_current(output: Path, key: Path, command: Sequence[str],
                inputs: Sequence[Path]) -> bool:
    return (output.is_file() and key.is_file() and bool(inputs)
            and all(path.is_file() for path in inputs)
            and key.read_text('utf-8') == _key(command, inputs))


def _key(command: Sequence[str], inputs: Sequence[Path]) -> str:
    hasher = hashlib.sha256('\0'.join(command).encode())
    for path in inputs:
        hasher.update(path.read_bytes())
    return hasher.hexdigest()


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True,
                              text=True)
    except OSError as error:
        raise _compile.CompileError(
            f'the C++ compiler {command[0]!r} cannot be run '
            f'({error.strerror}): install one, or name it with CXX and the '
            'C compiler with CC') from error
    if done.returncode:
        raise _compile.CompileError(
            f'{shlex.join(command)} failed:\n{done.stderr.strip()}')


# Modules ---------------------------------------------------------------------

def extension_modules(config: Config, plan: Plan) \
        -> list[_compile.Module]:
    """The extension modules to build against our libraries."""
    libraries = config.work / 'host-lib'
    rpath = '-Wl,-rpath,$ORIGIN/../lib'
    return [
        _compile.Module(
            name=target.name, sources=target.sources, include=plan.include,
            compile=tuple(plan.quote_flags),
            link=(*_needed(libraries, target), rpath, *target.link))
        for target in plan.modules]


def installed_name(file: str) -> str:
    """Where a module goes: below ``modules/``, by its dotted name."""
    return f'{MODULES}/{file.replace("/", ".")}'
