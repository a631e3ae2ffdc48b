"""Rebuilds extension modules; the work is done by ``_driver.py``."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from cupy_overlay import _headers
from cupy_overlay import _log
from cupy_overlay._config import Config

_DRIVER = Path(__file__).with_name('_driver.py')
_SHOWN = 20


class CompileError(Exception):
    """A compiler failed; the message holds the end of its output."""


@dataclasses.dataclass(frozen=True)
class Module:
    """An extension module to build.

    Attributes:
        name: dotted name; the tree holds its ``.pyx``.
        sources: more sources, relative to the tree.
        include: folders to search for headers before all others.
        compile: more arguments for the compiler.
        link: more arguments for the linker.
    """

    name: str
    sources: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    compile: tuple[str, ...] = ()
    link: tuple[str, ...] = ()


def build(config: Config, tree: Path, modules: Sequence[Module],
          cuda_include: Path, sdist: str) -> dict[str, Path]:
    """Builds what is not up to date.

    Args:
        config: the settings.
        tree: the edited tree.
        modules: all extension modules wanted.
        cuda_include: folder of CUDA headers.
        sdist: digest of the sdist, which stands for its C headers.

    Returns:
        File names relative to an installation, and where the files are.
    """
    out = config.work / 'modules'
    job = {
        'modules': [dataclasses.asdict(module) for module in modules],
        'cuda_include': str(cuda_include),
        'cuda_version': _headers.version(cuda_include),
        'sdist': sdist,
        'jobs': config.jobs,
        'out': str(out),
        'temp': str(config.work / 'temp'),
        'log': str(config.work / 'compile.log'),
    }
    job_path = config.work / 'job.json'
    job_path.write_text(json.dumps(job, indent=1), 'utf-8')
    _run(tree, job_path, Path(str(job['log'])))
    return {path.relative_to(out).as_posix(): path
            for path in sorted(out.rglob('*.so'))}


def _run(tree: Path, job: Path, log: Path) -> None:
    command = [sys.executable, str(_DRIVER), str(job)]
    with subprocess.Popen(command, cwd=tree, text=True,
                          stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            verb, _, what = line.rstrip('\n').partition('\t')
            _log.step(verb, what)
    if process.returncode:
        raise CompileError(failure(log))


def failure(log: Path) -> str:
    """What to say of a build that failed, from its log."""
    text = log.read_text('utf-8', 'replace') if log.is_file() else ''
    return (f'the build failed; all of its output is in {log}, of which:\n'
            + '\n'.join(_telling(text)))


def _telling(log: str) -> list[str]:
    """The lines from the first error on, or else the last ones."""
    lines = log.splitlines()
    for row, line in enumerate(lines):
        if ' error: ' in line or line.startswith('Error compiling Cython'):
            return lines[row:row + _SHOWN]
    return lines[-_SHOWN:]
