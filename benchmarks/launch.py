"""What a call costs that computes next to nothing."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

import measure

CALLS = 2000


def many(call: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(CALLS):
            call()
        cp.cuda.Device().synchronize()
    return run


def main() -> None:
    x, out = cp.ones(1), cp.ones(1)
    host, host_out = np.ones(1), np.ones(1)
    kernel = cp.RawKernel('extern "C" __global__ void f() {}', 'f')
    times = measure.interleaved({
        'np.add, 1 element': many(lambda: np.add(host, 1, out=host_out)),
        'cp.add, 1 element': many(lambda: cp.add(x, 1, out=out)),
        'empty RawKernel': many(lambda: kernel((1,), (1,), ())),
    })
    times = {name: seconds / CALLS for name, seconds in times.items()}
    measure.show('one call', times, 'np.add, 1 element', 1e-6, 'us')


if __name__ == '__main__':
    main()
