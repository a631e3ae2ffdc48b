"""Cost of the override protocol, in instructions.

Callgrind counts the instructions of a call on the fork and on the unmodified
CuPy of the same release. Arrays are empty, so that no kernel is launched; both
run on the host device. Then: the time from ``cp.sqrt(obj)`` to ``obj``'s
override, against ``np.sqrt(obj)``.
"""
from __future__ import annotations

import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile
import venv

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CALLS = ('cp.add(a, b)', 'cp.sqrt(a)', 'cp.add(a, 1)', 'kernel(a, b)')
FEW, MANY = 200, 700
# Requests to callgrind: count from now on; write what was counted.
MARKS = '''
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; }
void dump(void) { CALLGRIND_DUMP_STATS; }
'''
PROGRAM = '''
from cupy_backends import host
host.activate()
import ctypes, gc
import cupy as cp
a, b = cp.empty(0), cp.empty(0)
kernel = cp.ElementwiseKernel(
    'float64 x, float64 y', 'float64 z', 'z = x + y', 'plus')
callgrind = ctypes.CDLL({marks!r})
gc.disable()
callgrind.start()
for call in {calls}:
    exec(f'def run(n):\\n    for _ in range(n):\\n        {{call}}')
    for count in {few}, {few}, {many}:
        run(count)
        callgrind.dump()
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
    best = {'np': 1.0, 'cp': 1.0}
    for xp in ['np', 'cp'] * 50:  # by turns, as the machine may be busy
        best[xp] = min(best[xp], timeit.timeit(
            call.format(xp=xp), globals=globals(), number=2000))
    print(f"    {name:14}NumPy {best['np'] / 2e-6:6.0f} ns, CuPy "
          f"{best['cp'] / 2e-6:6.0f} ns: {best['cp'] / best['np']:.2f}x")
'''


def start(python: Path, folder: str) -> subprocess.Popen[str]:
    """Starts the program under callgrind, which writes into a folder."""
    marks = f'{folder}/marks.so'
    subprocess.run(['cc', '-shared', '-fPIC', '-x', 'c', '-', '-o', marks],
                   input=MARKS, text=True, check=True)
    program = PROGRAM.format(calls=CALLS, few=FEW, many=MANY, marks=marks)
    return subprocess.Popen(
        ['valgrind', '--tool=callgrind', '--smc-check=all-non-file',
         '--instr-atstart=no', f'--callgrind-out-file={folder}/out',
         str(python), '-c', program],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={'PYTHONHASHSEED': '0', 'PATH': os.environ['PATH'],
             'HOME': str(Path.home())})


def per_call(process: subprocess.Popen[str], folder: str) -> list[float]:
    """Waits for the program; returns the instructions of each call."""
    output = process.communicate()[0]
    counts = [int(re.findall(r'^totals: (\d+)', path.read_text(),
                             re.MULTILINE)[0])
              for path in sorted(Path(folder).glob('out.*'),
                                 key=lambda p: int(p.suffix[1:]))]
    if process.returncode or len(counts) != 3 * len(CALLS):
        raise SystemExit(f'callgrind failed:\n{output[-2000:]}')
    # The first count of three is of calls that fill caches.
    return [(counts[k + 2] - counts[k + 1]) / (MANY - FEW)
            for k in range(0, 3 * len(CALLS), 3)]


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
    pythons = [Path(sys.executable), upstream()]
    with tempfile.TemporaryDirectory() as one, \
            tempfile.TemporaryDirectory() as two:
        running = [(start(p, f), f) for p, f in zip(pythons, (one, two))]
        costs = [per_call(*item) for item in running]
    print('instructions a call: fork, unmodified CuPy')
    for call, here, there in zip(CALLS, *costs):
        print(f'    {call:14}{here:9.0f}{there:9.0f}{here / there:8.3f}x')
    print('from the call to the override')
    subprocess.run([sys.executable, '-c', OVERRIDE], check=True)


if __name__ == '__main__':
    main()
