"""numba's CUDA ufuncs by CuPy: calls, throughput, the first call.

Calls on small device arrays against the dispatcher of numba-cuda itself,
throughput on 15 million doubles against a hand-written ElementwiseKernel,
the first call in a process with empty caches and in a second process.

On the host device numba's own kernels, machine code for a GPU, do not run:
there its dispatcher is timed with a launch that does nothing.
"""
from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys
import tempfile
import timeit

import cupy as cp
from numba import cuda
from numba.cuda import vectorizers

import cupyx.numba
import measure

N = 15_000_000
FIRST = '''
import time
start = time.perf_counter()
import cupy as cp, cupyx.numba
x = cp.ones(10)
imported = time.perf_counter()

@cupyx.numba.vectorize
def f(x, y):
    return x * x + 3 * y

f(x, x).get()
print(round(1e3 * (time.perf_counter() - imported)))
'''


def polynomial(x, y):
    return x * x + 3 * y


def numbas_own():
    """Returns what numba-cuda itself builds, launches left out if need be."""
    builder = vectorizers.CUDAVectorize(polynomial, targetoptions={})
    builder.add('float64(float64, float64)')
    dispatcher = builder.build_ufunc()
    if os.environ.get('CUPY_DEVICE') == 'host':
        vectorizers.CUDAUFuncMechanism.launch = lambda *args: None
    return dispatcher


def calls() -> None:
    ours = cupyx.numba.vectorize(polynomial)
    numbas = numbas_own()
    x = cp.ones(10)
    d = cuda.to_device(x.get())
    kernel = cp.ElementwiseKernel(
        'float64 x, float64 y', 'float64 z', 'z = x * x + 3 * y', 'poly')

    def time(call):
        call()
        return min(timeit.repeat(call, number=1000, repeat=7)) / 1000

    measure.show('a call, 10 float64', {
        "numba-cuda's dispatcher": time(lambda: numbas(d, d)),
        'the same, of CuPy arrays': time(lambda: numbas(x, x)),
        'cupyx.numba': time(lambda: ours(x, x)),
        'ElementwiseKernel': time(lambda: kernel(x, x)),
        'cp.add': time(lambda: cp.add(x, x)),
    }, "numba-cuda's dispatcher", 1e-6, 'us')


def throughput() -> None:
    x, y = cp.random.random((2, N))
    out = cp.empty(N)
    kernel = cp.ElementwiseKernel(
        'float64 x, float64 y', 'float64 z', 'z = x * x + 3 * y', 'poly')
    ours = cupyx.numba.vectorize(polynomial)

    def synchronized(call):
        def run():
            call(x, y, out)
            cp.cuda.Device().synchronize()
        return run

    times = measure.interleaved({
        'ElementwiseKernel': synchronized(kernel),
        'cupyx.numba': synchronized(ours)}, repeats=15)
    measure.show(f'{N:,} float64', times, 'ElementwiseKernel')


def first_call() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'program.py').write_text(FIRST)
        environment = dict(os.environ, CUPY_CACHE_DIR=folder + '/kernels',
                           CUPY_HOST_CACHE_DIR=folder + '/host')
        for process in 'first', 'second':
            done = subprocess.run(
                [sys.executable, folder + '/program.py'], env=environment,
                check=True, capture_output=True, text=True)
            print(f'first call, {process} process: {done.stdout.strip()} ms')


if __name__ == '__main__':
    calls()
    throughput()
    first_call()
