"""Collects what a GPU machine without a network needs for the GPU check.

The pinned source distribution, the CUDA headers that the builder uses, and
wheels of what the demo needs go to ``build/gpu-bundle``. The official CuPy,
NumPy, Cython and pytest are expected on that machine.
"""
from __future__ import annotations

import argparse
from pathlib import Path
import platform
import shutil
import subprocess
import sys

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'install'))

from cupy_overlay import _config  # noqa: E402
from cupy_overlay import _fetch  # noqa: E402
from cupy_overlay import _pins  # noqa: E402

LIMIT_MB = 60
PACKAGES = ('awkward>=2.14,<3', 'fsspec', 'cuda-cccl')
PLATFORMS = ('manylinux2014', 'manylinux_2_24', 'manylinux_2_26',
             'manylinux_2_27', 'manylinux_2_28')
# On the machine already, or not needed: CUDA itself and what comes with CuPy.
_LEFT_OUT = ('numpy-', 'nvidia_', 'cuda_toolkit-', 'cuda_bindings-', 'numba')


def fetch_pinned(out: Path) -> None:
    """Copies the sdist and the header packages, checked by their hashes."""
    config, pins = _config.read(ROOT), _pins.load(ROOT)
    wanted = {pins.sdist: pins.sdist_sha256}
    wanted.update(pins.base(config.base).header_files(platform.machine()))
    for name, sha256 in wanted.items():
        shutil.copy(_fetch.fetch(config, name, sha256), out)


def fetch_wheels(out: Path, python: str) -> None:
    """Downloads the wheels for the Python of the GPU machine."""
    platforms = [f'--platform={name}_x86_64' for name in PLATFORMS]
    subprocess.run(
        [sys.executable, '-m', 'pip', 'download', '--quiet',
         '--dest', str(out), '--only-binary', ':all:',
         '--python-version', python, *platforms, *PACKAGES], check=True)
    for path in out.glob('*.whl'):
        if path.name.startswith(_LEFT_OUT):
            path.unlink()


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--python', default='3.12')
    parser.add_argument('--out', type=Path,
                        default=ROOT / 'build' / 'gpu-bundle')
    arguments = parser.parse_args(argv)
    shutil.rmtree(arguments.out, ignore_errors=True)
    arguments.out.mkdir(parents=True)
    fetch_wheels(arguments.out, arguments.python)
    fetch_pinned(arguments.out)
    size = sum(p.stat().st_size for p in arguments.out.iterdir()) / 2 ** 20
    for path in sorted(arguments.out.iterdir()):
        print(f'{path.stat().st_size / 2 ** 20:8.1f} MB  {path.name}')
    print(f'{size:8.1f} MB in {arguments.out}')
    if size > LIMIT_MB:
        print(f'error: more than {LIMIT_MB} MB', file=sys.stderr)
    return int(size > LIMIT_MB)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
