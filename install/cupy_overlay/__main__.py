"""Command line, used by the Makefile: ``python -m cupy_overlay --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import cupy_overlay
from cupy_overlay import _build
from cupy_overlay import _compile
from cupy_overlay import _config
from cupy_overlay import _edits
from cupy_overlay import _fetch
from cupy_overlay import _headers
from cupy_overlay import _install
from cupy_overlay import _installed
from cupy_overlay import _log
from cupy_overlay import _pins
from cupy_overlay import _source_wheel
from cupy_overlay import _tree
from cupy_overlay import _wheel

ROOT = cupy_overlay.ROOT
# What a user can mend: reported without a traceback.
ERRORS = (_compile.CompileError, _config.ConfigError, _edits.EditError,
          _fetch.FetchError, _headers.HeaderError, _install.InstallError,
          _installed.InstalledError, _pins.PinError, _tree.OverlayError,
          _wheel.WheelError)


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except KeyboardInterrupt:
        print('stopped; what was built stays', file=sys.stderr)
        return 130
    except ERRORS as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='cupy_overlay', description='Settings: environment variables '
        'CUPY_OVERLAY_*, described in _config.py.')
    commands = parser.add_subparsers(required=True)
    wheel = commands.add_parser('wheel', help='build the wheel')
    wheel.add_argument('folder', type=Path)
    wheel.add_argument('--install', action='store_true',
                       help='and install it for this Python')
    wheel.set_defaults(run=_wheel_command)
    source = commands.add_parser(
        'source-wheel', help='build all of CuPy from the edited sources')
    source.add_argument('folder', type=Path)
    source.set_defaults(run=_source_command)
    for name, run, text in [
            ('develop', _develop, 'update the fork installed here'),
            ('tree', _tree_command, 'make the edited source tree'),
            ('fetch', _fetch_command, 'fetch the pinned files'),
            ('requirements', _requirements, 'print what a build needs')]:
        commands.add_parser(name, help=text).set_defaults(run=run)
    return parser


def _wheel_command(options: argparse.Namespace) -> None:
    config = _config.read(ROOT)
    pins = _pins.load(ROOT)
    with _config.exclusive(config):
        path = _build.build_wheel(config, options.folder)
        if options.install:
            _install.install(path, pins.base(config.base), pins.fork_version)
    _log.step('done', str(path))


def _source_command(options: argparse.Namespace) -> None:
    config = _config.read(ROOT)
    with _config.exclusive(config):
        path = _source_wheel.build(config, options.folder)
    _log.step('done', str(path))


def _develop(options: argparse.Namespace) -> None:
    config = _config.read(ROOT)
    pins = _pins.load(ROOT)
    with _config.exclusive(config):
        files = _wheel.with_record(_build.wheel_files(config))
        changed = _install.sync(files, pins.base(config.base),
                                pins.fork_version)
    _log.step('done', f'{len(changed)} files updated in {sys.prefix}')


def _tree_command(options: argparse.Namespace) -> None:
    config = _config.read(ROOT)
    with _config.exclusive(config):
        tree = _build.make_tree(config, _pins.load(ROOT))
    _log.step('done', str(tree.path))


def _fetch_command(options: argparse.Namespace) -> None:
    for path in _build.fetch_all(_config.read(ROOT)):
        print(path)


def _requirements(options: argparse.Namespace) -> None:
    print('\n'.join([*cupy_overlay.REQUIREMENTS, *cupy_overlay.BOOTSTRAP]))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
