"""The steps from pinned files to the files of the fork's wheel."""

from __future__ import annotations

import dataclasses
import platform
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from cupy_overlay import _compile
from cupy_overlay import _config
from cupy_overlay import _edits
from cupy_overlay import _fetch
from cupy_overlay import _headers
from cupy_overlay import _host
from cupy_overlay import _installed
from cupy_overlay import _log
from cupy_overlay import _pins
from cupy_overlay import _state
from cupy_overlay import _tree
from cupy_overlay import _wheel

# What the wheel does not carry of our folders: sources of compiled code.
# (Upstream's wheels carry no Cython sources either.)
_SOURCES = ('.pyx', '.pxd', '.pxi', '.cpp', '.h', '.map')


@dataclasses.dataclass(frozen=True)
class Tree:
    """The edited source tree.

    Attributes:
        path: where it lies.
        files: its files.
        ours: the names of the files that the repository adds.
        edited: the names of upstream's files that the edits change.
    """

    path: Path
    files: Mapping[str, bytes]
    ours: tuple[str, ...]
    edited: tuple[str, ...]


def make_tree(config: _config.Config, pins: _pins.Pins) -> Tree:
    """Fetches the sdist, lays our files over it, applies the edits."""
    sdist = _fetch.fetch(config, pins.sdist, pins.sdist_sha256)
    pristine = _tree.unpack(sdist)
    ours = _tree.overlay(config.root)
    edits = _edits.load(config.root / 'edits')
    _log.step('editing', f'{len(ours)} files added, {len(edits)} edits')
    files = _tree.compose(pristine, ours, edits)
    edited = tuple(dict.fromkeys(edit.file for edit in edits))
    path = config.work / 'tree'
    path.mkdir(parents=True, exist_ok=True)
    _tree.write(path, files)
    return Tree(path, files, tuple(ours), edited)


def fetch_all(config: _config.Config) -> list[Path]:
    """Fetches every pinned file that a build on this machine may use."""
    pins = _pins.load(config.root)
    base = pins.base(config.base)
    wheel = base.wheel(_config.python_tag(), platform.machine())
    wanted = {pins.sdist: pins.sdist_sha256, wheel: base.wheels[wheel],
              **base.header_files(platform.machine())}
    return [_fetch.fetch(config, file, digest)
            for file, digest in wanted.items()]


def wheel_files(config: _config.Config) -> dict[str, bytes]:
    """Builds what has to be built and returns the wheel's files.

    RECORD is left to :func:`cupy_overlay._wheel.write`.
    """
    pins = _pins.load(config.root)
    base = pins.base(config.base)
    tree = make_tree(config, pins)
    rebuilt = _tree.affected(tree.files, (*tree.ours, *tree.edited))
    compiled = compile_parts(config, pins, tree, rebuilt)
    files = _base_files(config, pins, base)
    return assemble(config, pins, base, tree, files, compiled)


def assemble(config: _config.Config, pins: _pins.Pins, base: _pins.Base,
             tree: Tree, files: Mapping[str, bytes],
             compiled: Mapping[str, Path]) -> dict[str, bytes]:
    """Puts what is ours into the files of a base wheel."""
    changed = {name: tree.files[name] for name in tree.edited
               if name in files}
    ours = {name: tree.files[name] for name in tree.ours
            if not name.endswith(_SOURCES)}
    built = {name: path.read_bytes() for name, path in compiled.items()}
    licences = {name: (config.root / name).read_bytes()
                for name in _state.LICENCES}
    return _wheel.rename({**files, **changed, **ours, **built}, pins, base,
                         licences, wheel_tag())


def _base_files(config: _config.Config, pins: _pins.Pins,
                base: _pins.Base) -> dict[str, bytes]:
    if config.from_installed:
        return _installed.read(config.from_installed, base, pins.version)
    file = base.wheel(_config.python_tag(), platform.machine())
    path = _fetch.fetch(config, file, base.wheels[file])
    _log.step('reading', file)
    return _wheel.read(path)


def compile_parts(config: _config.Config, pins: _pins.Pins, tree: Tree,
                  rebuilt: list[str]) -> dict[str, Path]:
    """Builds extension modules and the host device's libraries.

    Args:
        config: the settings.
        pins: upstream.toml.
        tree: the edited tree.
        rebuilt: names of the modules to take the place of the base's.

    Returns:
        File names in the wheel, and where the files are.
    """
    include = _headers.find(config, pins.base(config.base))
    plan = _host.load(tree.path)
    libraries = _host.build_libraries(config, tree.path, plan, include)
    twice = {target.name for target in plan.modules} & set(rebuilt)
    if twice:
        raise _edits.EditError(
            f'{min(twice)} is built a second time for the host device, '
            'unedited; the edits may not change what it depends on')
    host = _host.extension_modules(config, plan)
    # Those of several sources take longest and start first.
    modules = [*host, *(_compile.Module(name) for name in rebuilt)]
    built = _compile.build(config, tree.path, modules, include,
                           pins.sdist_sha256)
    suffix = sysconfig.get_config_var('EXT_SUFFIX')
    for module in host:
        file = module.name.replace('.', '/') + suffix
        built[_host.installed_name(file)] = built.pop(file)
    return {**built, **libraries}


def wheel_tag() -> str:
    """Compiled here, so no ``manylinux``."""
    tag = _config.python_tag()
    return f'{tag}-{tag}-linux_{platform.machine()}'


def wheel_name(pins: _pins.Pins, base: _pins.Base) -> str:
    """The file name of the fork's wheel."""
    name = base.name.replace('-', '_')
    return f'{name}-{pins.fork_version}-{wheel_tag()}.whl'


def build_wheel(config: _config.Config, folder: Path) -> Path:
    """Builds a wheel into a folder, unless it is there; returns its path."""
    pins = _pins.load(config.root)
    path = folder / wheel_name(pins, pins.base(config.base))
    key = _state.fingerprint(config)
    if _state.is_current(config, path, key):
        _log.step('up to date', path.name)
        return path
    files = wheel_files(config)
    _log.step('packing', path.name)
    _wheel.write(path, files)
    _state.store(config, path, key)
    return path
