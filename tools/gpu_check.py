"""Checks the fork on a machine with an NVIDIA GPU and no network.

Builds it on the CuPy that is installed there, installs it into a folder of
its own, runs the tests of the hook and those marked ``gpu``, the demo and a
few measurements, and writes ``gpu_check.json`` with the GPU's name.
``--rehearse`` does the same on the host device; the file says so.
"""
from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import platform
import subprocess
import sys
import time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / 'build' / 'gpu-check' / 'site'
# Seconds after which a step is given up; together below ten minutes.
STEPS = {'build': 180, 'install': 40, 'hook tests': 120, 'numba tests': 100,
         'gpu tests': 40, 'demo': 40, 'measure': 60}


def command(step: str, bundle: Path) -> list[str]:
    """Returns the command line of one step."""
    python = sys.executable
    wheels = sorted(str(p) for p in bundle.glob('*.whl')
                    if not p.name.startswith(('nvidia_', 'cupy_')))
    built = sorted(str(p) for p in (ROOT / 'dist').glob('cupy_cuda*.whl'))
    return {
        'build': [python, '-m', 'cupy_overlay', 'wheel', 'dist'],
        'install': [python, '-m', 'pip', 'install', '--quiet', '--no-index',
                    '--no-deps', '--upgrade', '--target', str(SITE),
                    *built[-1:], *wheels],
        'hook tests': [python, '-m', 'pytest', '-q',
                       'tests/cupy_tests/core_tests'],
        # numba-cuda-mlir is not there.
        'numba tests': [python, '-m', 'pytest', '-q', 'tests/cupyx_tests',
                        'tests/numba_tests', '--ignore',
                        'tests/cupyx_tests/numba_tests/test_compilers.py'],
        'gpu tests': [python, '-m', 'pytest', '-q', '-m', 'gpu',
                      'tests/gpu_tests'],
        'demo': [python, 'examples/awkward_sqrt.py'],
        'measure': [python, 'tools/gpu_measure.py'],
    }[step]


def environment(step: str, bundle: Path, rehearse: bool) -> dict[str, str]:
    result = dict(os.environ)
    result.pop('CUPY_DEVICE', None)
    if step == 'build':
        result.update(PYTHONPATH=str(ROOT / 'install'),
                      CUPY_OVERLAY_FROM_INSTALLED='1',
                      CUPY_OVERLAY_SOURCES=str(bundle))
        return result
    if rehearse:
        result['CUPY_DEVICE'] = 'host'
    result['PYTHONPATH'] = str(SITE)
    return result


def run(step: str, bundle: Path, rehearse: bool) -> dict[str, Any]:
    """Runs one step; a failure is recorded and does not stop the others."""
    print(f'{step} ...', flush=True)
    start = time.monotonic()
    try:
        done = subprocess.run(
            command(step, bundle), cwd=ROOT, text=True,
            timeout=STEPS[step] * (4 if rehearse else 1),  # on a laptop
            env=environment(step, bundle, rehearse),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        status, output = 124, str(error.stdout or '')
    seconds = round(time.monotonic() - start, 1)
    print(output[-1500:] + f'\n{step}: exit status {status}, {seconds} s',
          flush=True)
    return {'status': status, 'seconds': seconds, 'output': output[-4000:]}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('bundle', type=Path)
    parser.add_argument('--rehearse', action='store_true')
    arguments = parser.parse_args(argv)
    bundle = arguments.bundle.resolve()
    results: dict[str, Any] = {
        'rehearsal': arguments.rehearse, 'python': platform.python_version(),
        'steps': {s: run(s, bundle, arguments.rehearse) for s in STEPS}}
    measured = results['steps']['measure']
    if measured['status'] == 0:
        results['figures'] = json.loads(measured['output'].splitlines()[-1])
    out = Path(os.environ.get('OUT', ROOT / 'build')) / 'gpu_check.json'
    out.write_text(json.dumps(results, indent=1), 'utf-8')
    print(f'results in {out}')
    return int(any(s['status'] for s in results['steps'].values()))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
