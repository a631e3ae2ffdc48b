"""Builds extension modules in the edited tree with upstream's own builder.

Runs as a script, in a process of its own (``python _driver.py JOB.json``)
with the tree as working directory, because ``cupy_builder`` keeps its
settings in globals and setuptools changes the process as it likes.

The job says what is wanted; modules whose inputs are those of the last time
are left alone. Compile-time constants, directives and compiler settings are
upstream's (``install/cupy_builder``); only the list of modules is ours.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_KEYS = 'keys.json'
_LOCK = threading.Lock()


def main(job_path: str) -> None:
    job: dict[str, Any] = json.loads(Path(job_path).read_text('utf-8'))
    # In place of this file's folder, whose modules are not meant here.
    sys.path[0] = os.path.join(os.getcwd(), 'install')
    os.environ.update(_environment(job))
    with _output_in(job['log']) as say:
        keys = {m['name']: _key(m, job) for m in job['modules']}
        stale = [m for m in job['modules'] if _is_stale(m, keys, job)]
        if stale:
            _build(stale, keys, job, say)
        _remove_others(job)


def _environment(job: dict[str, Any]) -> dict[str, str]:
    return {
        'CUPY_NUM_BUILD_JOBS': str(job['jobs']),
        # The tree's place must not get into the files.
        'CUPY_INSTALL_NO_RPATH': '1',
        'CUPY_INCLUDE_PATH': job['cuda_include'],
        'CUPY_INSTALL_USE_STUB': '0',
        # What is stale is told by keys here; Cython goes by file times and
        # would miss another CUDA version or another Cython.
        'CYTHON_FORCE_REGEN': '1',
    }


@contextlib.contextmanager
def _output_in(log: str) -> Iterator[Any]:
    """Sends compilers' output to a log; yields what still prints lines."""
    terminal = os.dup(1)
    with open(log, 'w') as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)

        def say(verb: str, what: str) -> None:
            os.write(terminal, f'{verb}\t{what}\n'.encode())

        yield say
        sys.stdout.flush()


# What is up to date ----------------------------------------------------------

def _key(module: dict[str, Any], job: dict[str, Any]) -> str:
    """A digest of everything that decides a module's bytes."""
    import Cython.Shadow
    import numpy

    settings = [module, job['cuda_version'], job['sdist'], sys.version,
                Cython.Shadow.__version__, numpy.__version__, _compiler(),
                os.environ.get('CFLAGS'), os.environ.get('CXXFLAGS')]
    hasher = hashlib.sha256(json.dumps(settings).encode())
    for path in _inputs(module):
        hasher.update(path.encode() + b'\0' + Path(path).read_bytes())
    return hasher.hexdigest()


def _compiler() -> str:
    command = os.environ.get('CXX') or sysconfig.get_config_var('CXX')
    return subprocess.run([*shlex.split(command), '--version'], check=True,
                          capture_output=True, text=True).stdout


def _inputs(module: dict[str, Any]) -> list[str]:
    from Cython.Build import Dependencies

    tree: Any = Dependencies.create_dependency_tree()  # type: ignore[no-untyped-call]
    found = set(tree.all_dependencies(_pyx(module)))
    for source in module['sources']:
        # Our own headers: few, so all of them.
        folder = Path(source).parent
        found.update(p.as_posix() for p in folder.rglob('*.h*'))
        found.add(source)
    inside = (os.path.relpath(path) for path in found)
    return sorted(p for p in inside if not p.startswith('..'))


def _pyx(module: dict[str, Any]) -> str:
    name: str = module['name']
    return name.replace('.', '/') + '.pyx'


def _output(name: str, job: dict[str, Any]) -> Path:
    suffix = sysconfig.get_config_var('EXT_SUFFIX')
    return Path(job['out'], name.replace('.', '/') + suffix)


def _is_stale(module: dict[str, Any], keys: dict[str, str],
              job: dict[str, Any]) -> bool:
    name = module['name']
    return (_old_keys(job).get(name) != keys[name]
            or not _output(name, job).is_file())


def _old_keys(job: dict[str, Any]) -> dict[str, str]:
    path = Path(job['out'], _KEYS)
    keys: dict[str, str] = {}
    if path.is_file():
        keys = json.loads(path.read_text('utf-8'))
    return keys


def _store_key(name: str, key: str, job: dict[str, Any]) -> None:
    """Notes one module as built; a later failure does not undo it."""
    with _LOCK:
        keys = {**_old_keys(job), name: key}
        text = json.dumps(keys, indent=1, sort_keys=True)
        Path(job['out'], _KEYS).write_text(text, 'utf-8')


def _remove_others(job: dict[str, Any]) -> None:
    """Removes modules of earlier jobs that are not wanted any more."""
    wanted = {_output(m['name'], job) for m in job['modules']}
    for path in Path(job['out']).rglob('*.so'):
        if path not in wanted:
            path.unlink()


# Building --------------------------------------------------------------------

def _build(modules: list[dict[str, Any]], keys: dict[str, str],
           job: dict[str, Any], say: Any) -> None:
    import setuptools

    def built(name: str) -> None:
        _store_key(name, keys[name], job)

    say('cythonising', ', '.join(m['name'] for m in modules))
    extensions = _extensions(modules, job)
    dist = setuptools.Distribution({
        'name': 'cupy', 'ext_modules': extensions,
        'cmdclass': {'build_ext': _command(say, built)}})
    command: Any = dist.get_command_obj('build_ext')
    command.build_lib = job['out']
    command.build_temp = job['temp']
    command.force = True
    command.ensure_finalized()
    command.run()


def _extensions(modules: list[dict[str, Any]], job: dict[str, Any]) \
        -> list[Any]:
    import cupy_builder
    from cupy_builder import cupy_setup_build

    context = cupy_builder.Context(os.getcwd())
    cupy_builder.initialize(context)
    feature = cupy_builder.Feature(context)
    feature.name = 'cuda'
    feature.modules = [(m['name'], m['sources']) for m in modules]
    feature._version = job['cuda_version']
    context.features = {'cuda': feature}
    # The headers are there and no CUDA library is linked, so nothing is to
    # be probed.
    cupy_setup_build.preconfigure_modules = _without_probing
    made: list[Any] = cupy_setup_build.get_ext_modules(True, context)
    for extension, module in zip(made, modules, strict=True):
        extension.include_dirs = module['include'] + extension.include_dirs
        # Given last, these win over the flags that Python was built with.
        extension.extra_compile_args += [
            '-O2', '-g0', f'-ffile-prefix-map={os.getcwd()}=.',
            *module['compile']]
        extension.extra_link_args += module['link']
    return made


def _without_probing(context: Any, modules: Any, compiler: Any,
                     settings: Any) -> tuple[list[str], Any]:
    return [module.name for module in modules], settings


def _command(say: Any, built: Any) -> type:
    """Upstream's ``build_ext``, made to say what it does and has done."""
    import cupy_builder._command

    base: Any = cupy_builder._command.custom_build_ext

    class BuildExt(base):  # type: ignore[misc]
        def build_extension(self, ext: Any) -> None:
            say('compiling', ext.name)
            super().build_extension(ext)
            built(ext.name)

    return BuildExt


if __name__ == '__main__':
    main(sys.argv[1])
