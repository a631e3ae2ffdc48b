"""Kept for those who look for it: the build backend is ``cupy_overlay``.

``python setup.py bdist_wheel`` and ``python setup.py sdist`` call the very
hooks that ``pip install .`` calls (see pyproject.toml); whatever else
setuptools knows is better done with pip or make.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
USAGE = '''\
This fork of CuPy is built by its own backend, not by setuptools. Use

    pip install .                  build and install
    make wheel                     build into dist/, install into .venv
    make develop                   the same after a change, quickly
    make help                      everything else

or: python setup.py {bdist_wheel,sdist}   (into dist/)
'''


def main(arguments: list[str]) -> int:
    sys.path.insert(0, str(ROOT / 'install'))
    import cupy_overlay

    hooks = {'bdist_wheel': cupy_overlay.build_wheel,
             'sdist': cupy_overlay.build_sdist}
    if len(arguments) != 1 or arguments[0] not in hooks:
        print(USAGE, file=sys.stderr)
        return 2
    dist = ROOT / 'dist'
    dist.mkdir(exist_ok=True)
    print(dist / hooks[arguments[0]](str(dist)))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
