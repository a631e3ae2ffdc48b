"""Command line: ``python -m cupy_overlay {wheel,tree} …``; see the Makefile."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cupy_overlay import _build
from cupy_overlay import _compile
from cupy_overlay import _config
from cupy_overlay import _edits
from cupy_overlay import _fetch
from cupy_overlay import _headers
from cupy_overlay import _installed
from cupy_overlay import _log
from cupy_overlay import _pins
from cupy_overlay import _tree
from cupy_overlay import _wheel

ROOT = Path(__file__).resolve().parents[2]
# What a user can mend: reported without a traceback.
ERRORS = (_compile.CompileError, _config.ConfigError, _edits.EditError,
          _fetch.FetchError, _headers.HeaderError, _installed.InstalledError,
          _pins.PinError, _tree.OverlayError, _wheel.WheelError)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog='cupy_overlay')
    commands = parser.add_subparsers(required=True)
    wheel = commands.add_parser('wheel', help='build the wheel')
    wheel.add_argument('folder', type=Path)
    wheel.set_defaults(run=_run_wheel)
    tree = commands.add_parser('tree', help='make the edited source tree')
    tree.set_defaults(run=_run_tree)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except ERRORS as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
    return 0


def _run_wheel(options: argparse.Namespace) -> None:
    path = _build.build_wheel(_config.read(ROOT), options.folder)
    _log.step('done', str(path))


def _run_tree(options: argparse.Namespace) -> None:
    tree = _build.make_tree(_config.read(ROOT), _pins.load(ROOT))
    _log.step('done', str(tree.path))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
