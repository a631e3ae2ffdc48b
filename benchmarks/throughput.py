"""cp.sqrt and others on 15 million doubles, against NumPy with one thread.

Run it with ``CUPY_HOST_NUM_THREADS=1`` for one thread against one.
"""
from __future__ import annotations

import os

import cupy as cp
import numpy as np

import measure

N = 15_000_000


def compare(name: str) -> None:
    host = np.abs(np.random.default_rng(1).normal(size=N))
    device = cp.asarray(host)
    out, host_out = cp.empty_like(device), np.empty_like(host)
    func, host_func = getattr(cp, name), getattr(np, name)
    inputs = (device,) * func.nin, (host,) * func.nin

    def run() -> None:
        func(*inputs[0], out=out)
        cp.cuda.Device().synchronize()

    times = measure.interleaved({
        'NumPy': lambda: host_func(*inputs[1], out=host_out), 'CuPy': run})
    measure.show(f'{name}, {N:,} float64', times, 'NumPy')


def main() -> None:
    threads = os.environ.get('CUPY_HOST_NUM_THREADS', str(os.cpu_count()))
    device = cp.cuda.runtime.getDeviceProperties(0)['name'].decode()
    print(f'{device}; threads of the host device: {threads}')
    for name in 'sqrt', 'sin', 'exp', 'add', 'abs':
        compare(name)


if __name__ == '__main__':
    main()
