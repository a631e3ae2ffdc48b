"""Checks the rendered series of patches as CuPy's maintainers would.

The series is applied with ``git am`` to a pristine source tree. CuPy's
linters must find nothing in the files it touches that they do not find
before it. All of CuPy must build, with stub headers. The series' tests must
pass with the modules so built, which take their places in the official
wheel: a whole CuPy of stubs knows no CUDA. Everything is below
``build/upstream-check``; a build is kept until what is compiled changes.
"""
from __future__ import annotations

import argparse
import collections
from collections.abc import Iterable
import hashlib
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import cupy_backends.host
import upstream_patch  # it finds the next ones

from cupy_overlay import _config
from cupy_overlay import _fetch
from cupy_overlay import _pins
from cupy_overlay import _tree

ROOT = upstream_patch.ROOT
WORK = ROOT / 'build' / 'upstream-check'

# The versions and arguments are those of CuPy's .pre-commit-config.yaml,
# which the sdist lacks; the settings are in its pyproject.toml. mypy reads
# all packages: what it finds depends on which files it begins with.
LINTERS = {
    ('autopep8', '--diff'): r'\.py$',
    ('ruff', 'check', '--no-cache', '--output-format=concise'): r'\.pyi?$',
    ('cython-lint', '--max-line-length=79'): r'\.p(yx|xd|xi)$',
    ('mypy', 'cupy', 'cupyx', 'cupy_backends'): None,
}
REQUIREMENTS = (
    'autopep8==2.3.2', 'ruff==0.14.9', 'cython-lint==0.18.1', 'mypy==1.19.1',
    'types-setuptools', 'types-PyYAML', 'setuptools>=77', 'wheel',
    'Cython>=3.2,<3.3', 'numpy>=2.0', 'scipy', 'pytest', 'llvmlite',
    'cuda-pathfinder', 'cuda-toolkit[nvrtc,cudart]')
BUILD = ('import sys; from setuptools import build_meta; '
         'build_meta.build_wheel(sys.argv[1])')
TEST = ('import sys, pytest; from cupy_backends import host; '
        'host.activate(); sys.exit(pytest.main(sys.argv[1:]))')


def environment() -> Path:
    """Makes the environment of linters, build and tests; its Python."""
    folder = WORK / 'env'
    python = folder / 'bin' / 'python'
    if not (folder / '.done').exists():
        venv.create(folder, with_pip=True, clear=True)
        pip(python, *REQUIREMENTS)
        (folder / '.done').touch()
    return python


def pip(python: Path, *arguments: str) -> None:
    subprocess.run([python, '-m', 'pip', 'install', '-q', *arguments],
                   check=True)


def applied(source: Path, series: Path) -> Path:
    """Returns a tree whose tag ``base`` is pristine, with the series."""
    tree = upstream_patch.pristine(source, WORK / 'source')
    patches = sorted(series.glob('*.patch'))[1:]  # without the cover letter
    upstream_patch.git(tree, 'am', '-q', *map(str, patches))
    upstream_patch.git(tree, 'tag', 'series')
    print(f'{len(patches)} patches apply')
    return tree


def touched(tree: Path) -> list[str]:
    return upstream_patch.git(tree, 'diff', '--name-only', '--diff-filter=d',
                              'base', 'series').split()


# Linters ----------------------------------------------------------------

def new_findings(python: Path, tree: Path, files: list[str]) -> list[str]:
    """What the linters say of the series, but not of the base."""
    found = {}
    for revision in 'base', 'series':
        upstream_patch.git(tree, 'checkout', '-q', revision)
        found[revision] = findings(
            python, tree, [f for f in files if (tree / f).exists()])
    return sorted((found['series'] - found['base']).elements())


def findings(python: Path, tree: Path, files: list[str]) \
        -> collections.Counter[str]:
    """Counts the findings; lines that only move do not differ."""
    counts: collections.Counter[str] = collections.Counter()
    # cython-lint runs pycodestyle.
    path = os.pathsep.join([str(python.parent), os.environ['PATH']])
    for (tool, *arguments), pattern in LINTERS.items():
        wanted = [f for f in files if pattern and re.search(pattern, f)]
        if pattern and not wanted:
            continue
        done = subprocess.run(
            [python.with_name(tool), *arguments, *wanted], cwd=tree,
            text=True, capture_output=True, env=os.environ | {'PATH': path})
        if done.returncode not in (0, 1, 2) or 'Traceback' in done.stderr:
            raise SystemExit(f'{tool} failed:\n{done.stderr}')
        output = done.stdout.replace(f'{tree}/', '')
        counts.update(f'{tool}: {re.sub(r":[0-9]+", "", line)}'
                      for line in output.splitlines()
                      if re.match(r'[\w/]+\.\w+:\d+|-(?!--)', line))
    return counts


# Build and tests --------------------------------------------------------

def built(python: Path, tree: Path) -> Path:
    """Builds CuPy from the tree, unless that is done; returns the wheel."""
    wheels = WORK / 'wheels'
    folder = wheels / compiled_from(tree)
    if not list(folder.glob('*.whl')):
        shutil.rmtree(wheels, ignore_errors=True)
        folder.mkdir(parents=True)
        # Without .git, which stands for a checkout with submodules.
        copy = WORK / 'build'
        shutil.rmtree(copy, ignore_errors=True)
        upstream_patch.git(tree, 'checkout-index', '-a', f'--prefix={copy}/')
        log = WORK / 'build.log'
        print(f'building all of CuPy; the output is in {log}', flush=True)
        with log.open('w') as stream:
            done = subprocess.run(
                [python, '-c', BUILD, str(folder)], cwd=copy, stdout=stream,
                stderr=subprocess.STDOUT, env=os.environ | {
                    'CUPY_INSTALL_USE_STUB': '1', 'CFLAGS': '-O0 -g0',
                    'CUPY_NUM_BUILD_JOBS': str(os.cpu_count())})
        if done.returncode:
            raise SystemExit(f'the build failed, see {log}')
    [wheel] = folder.glob('*.whl')
    print(f'builds: {wheel.name}')
    return wheel


def compiled_from(tree: Path) -> str:
    """A digest of what the build compiles, and of how."""
    listed = upstream_patch.git(tree, 'ls-tree', '-r', 'series').splitlines()
    kept = [line for line in listed if re.search(
        r'\tinstall/|\tsetup.py|\.(p(yx|xd|xi)|[ch](pp)?|cuh?)$', line)]
    return hashlib.sha256('\n'.join(kept).encode()).hexdigest()[:16]


def install(python: Path, tree: Path, wheel: Path, files: list[str]) -> None:
    """Lays what the series changes over the official wheel."""
    config = _config.read(ROOT)
    pins = _pins.load(ROOT)
    base = pins.base(config.base)
    name = base.wheel(_config.python_tag(), os.uname().machine)
    official = _fetch.fetch(config, name, base.wheels[name])
    pip(python, '--force-reinstall', '--no-deps', str(official))
    [site] = python.parents[1].glob('lib/*/site-packages')
    shutil.copytree(Path(cupy_backends.host.__file__).parent,
                    site / 'cupy_backends' / 'host', dirs_exist_ok=True)
    modules = rebuilt(tree, files)
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            module = member.split('.', 1)[0].replace('/', '.')
            if member.endswith('.so') and module in modules:
                archive.extract(member, site)
            elif member in files:
                shutil.copyfile(tree / member, site / member)


def rebuilt(tree: Path, files: Iterable[str]) -> set[str]:
    """The extension modules that differ because of the series."""
    sources = {path.relative_to(tree).as_posix(): path.read_bytes()
               for path in tree.glob('cupy*/**/*.p[yx][xdi]')}
    return set(_tree.affected(sources, files))


def tested(python: Path, tree: Path, files: list[str]) -> int:
    tests = [str(tree / f) for f in files if f.startswith('tests/')]
    # The host device has no cuSPARSE, and copies are done on return.
    tests += ['-k', 'not test_get_array_module and not test_asnumpy_blocking']
    return subprocess.run(
        [python, '-c', TEST, '-q', '--import-mode=importlib', '-p',
         'no:cacheprovider', '-c', str(tree / 'pyproject.toml'), *tests],
        cwd=WORK).returncode


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('source', type=Path, help='sdist or source tree')
    parser.add_argument('--series', type=Path,
                        default=ROOT / 'build' / 'upstream-patch')
    arguments = parser.parse_args(argv)
    python = environment()
    tree = applied(arguments.source.resolve(), arguments.series.resolve())
    files = touched(tree)
    new = new_findings(python, tree, files)
    for line in new:
        print(f'NEW FINDING: {line}')
    print(f'linters: {len(new)} new findings')
    install(python, tree, built(python, tree), files)
    return 1 if tested(python, tree, files) or new else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
