"""Cost of the override protocol, in instructions.

Callgrind counts the instructions of a call on the fork and on the unmodified
CuPy of the same release. Arrays are empty, so that no kernel is launched; both
run on the host device. Then: the time from ``cp.sqrt(obj)`` to ``obj``'s
override, against ``np.sqrt(obj)``.
"""
from __future__ import annotations

from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile
import venv

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CALLS = {
    'cp.add(a, b)': 'cp.add(a, b)',
    'cp.sqrt(a)': 'cp.sqrt(a)',
    'cp.add(a, 1)': 'cp.add(a, 1)',
    'kernel(a, b)': 'kernel(a, b)',
}
PROGRAM = '''
from cupy_backends import host
host.activate()
import cupy as cp
a, b = cp.empty(0), cp.empty(0)
kernel = cp.ElementwiseKernel(
    'float64 x, float64 y', 'float64 z', 'z = x + y', 'plus')
for _ in range({count}):
    {call}
'''
OVERRIDE = '''
import timeit
import cupy as cp, numpy as np
class Obj:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return None
obj = Obj()
for name, call in [('sqrt(obj)', '{xp}.sqrt(obj)'),
                   ('add(obj, 1)', '{xp}.add(obj, 1)')]:
    best = {xp: min(timeit.repeat(
        call.format(xp=xp), globals=globals(), number=20000, repeat=9))
        for xp in ('np', 'cp')}
    print(f"    {name:14}NumPy {best['np'] / 2e-2:6.0f} ns, CuPy "
          f"{best['cp'] / 2e-2:6.0f} ns: {best['cp'] / best['np']:.2f}x")
'''


def instructions(python: Path, call: str, count: int) -> int:
    """Instructions of a process that makes ``count`` calls."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ['valgrind', '--tool=callgrind', '--smc-check=all-non-file',
             f'--callgrind-out-file={folder}/out', str(python), '-c',
             PROGRAM.format(call=call, count=count)],
            capture_output=True, text=True, env={
                'PYTHONHASHSEED': '0', 'HOME': str(Path.home())})
    found = re.search(r'Collected : (\d+)', done.stderr)
    if done.returncode or not found:
        raise SystemExit(f'callgrind failed:\n{done.stderr[-2000:]}')
    return int(found[1])


def per_call(python: Path, call: str) -> float:
    few, many = 1000, 3000
    return (instructions(python, call, many)
            - instructions(python, call, few)) / (many - few)


def upstream() -> Path:
    """Makes an environment with the official wheel, once.

    The host device is the fork's, so that both sides run on the same one.
    """
    import cupy_backends.host
    folder = ROOT / 'build' / 'bench-upstream'
    python = folder / 'bin' / 'python'
    if not (folder / '.done').exists():
        print('Installing the unmodified CuPy', flush=True)
        fetched = subprocess.run(
            [sys.executable, '-m', 'cupy_overlay', 'fetch'], check=True,
            cwd=ROOT / 'install', capture_output=True, text=True)
        [wheel] = re.findall(r'^.*cupy_cuda1\dx.*\.whl$', fetched.stdout,
                             re.MULTILINE)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, '-m', 'pip', 'install', '-q', wheel,
                        'llvmlite', 'cuda-toolkit[nvrtc,cudart]'], check=True)
        [site] = folder.glob('lib/*/site-packages')
        shutil.copytree(Path(cupy_backends.host.__file__).parent,
                        site / 'cupy_backends' / 'host')
        (folder / '.done').touch()
    return python


def main() -> None:
    if not shutil.which('valgrind'):
        raise SystemExit('valgrind is needed to count instructions')
    other = upstream()
    print('instructions a call: fork, unmodified CuPy')
    for name, call in CALLS.items():
        here, there = per_call(Path(sys.executable), call), per_call(
            other, call)
        print(f'    {name:14}{here:9.0f}{there:9.0f}{here / there:8.3f}x',
              flush=True)
    print('from the call to the override')
    subprocess.run([sys.executable, '-c', OVERRIDE], check=True)


if __name__ == '__main__':
    main()
