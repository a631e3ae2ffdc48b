"""All of CuPy built from the edited sources, as upstream's sdist is.

With a CUDA toolkit this gives a complete CuPy, without one of NVIDIA's
binary packages as the base. With ``CUPY_INSTALL_USE_STUB=1`` it only shows
that the whole tree still builds. The host device is built as for the usual
wheel.
"""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cupy_overlay import _build
from cupy_overlay import _compile
from cupy_overlay import _config
from cupy_overlay import _log
from cupy_overlay import _pins
from cupy_overlay import _wheel

_NAME = 'cupy'
_HOOK = ('import sys; from setuptools import build_meta; '
         'build_meta.build_wheel(sys.argv[1])')
_PROGRESS = re.compile(r"\[ *\d+/\d+\] (Cythonizing) (\S+?\.pyx)"
                       r"|(building) '([\w.]+)' extension")


def build(config: _config.Config, folder: Path) -> Path:
    """Builds the wheel ``cupy`` into a folder and returns its path."""
    # Not the tree of the usual wheel: Cython's output differs.
    config = dataclasses.replace(config, build=config.build / 'source')
    pins = _pins.load(config.root)
    base = dataclasses.replace(pins.base(config.base), name=_NAME)
    tree = _build.make_tree(config, pins)
    with tempfile.TemporaryDirectory() as out:
        _run_upstream(config, tree.path, out)
        made, = Path(out).glob('*.whl')
        files = _wheel.read(made)
    compiled = _build.compile_parts(config, pins, tree, [])
    path = folder / _build.wheel_name(pins, base)
    _log.step('packing', path.name)
    _wheel.write(path, _build.assemble(config, pins, base, tree, files,
                                       compiled))
    return path


def _run_upstream(config: _config.Config, tree: Path, out: str) -> None:
    """Runs the tree's own build backend; shows how far it is."""
    log = config.work / 'source.log'
    env = {**os.environ, 'CUPY_NUM_BUILD_JOBS': str(config.jobs)}
    env.pop('PYTHONPATH', None)
    command = [sys.executable, '-c', _HOOK, out]
    with log.open('w') as stream, subprocess.Popen(
            command, cwd=tree, env=env, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            stream.write(line)
            match = _PROGRESS.search(line)
            if match:
                verb, what = filter(None, match.groups())
                _log.step(verb.lower(), what)
    if process.returncode:
        raise _compile.CompileError(_compile.failure(log))
