"""Measures the device at hand; prints one line of JSON (see gpu_check.py)."""
from __future__ import annotations

from collections.abc import Callable
import json
import statistics
import time
from typing import Any

import awkward as ak
import cupy as cp
from numba import cuda
from numba.cuda import vectorizers

import cupyx.numba

N = 15_000_000


def seconds(call: Callable[[], Any], repeats: int = 9) -> float:
    """Median time of a call, the device's work included."""
    times = []
    for _ in range(repeats + 1):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        call()
        cp.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def numba_figures() -> dict[str, float]:
    """A numba ufunc against a kernel by hand and numba's dispatcher."""
    def polynomial(x: Any, y: Any) -> Any:
        return x * x + 3 * y

    x, y = cp.random.random((2, N))
    out, one = cp.empty(N), cp.ones(1)
    kernel = cp.ElementwiseKernel(
        'float64 x, float64 y', 'float64 z', 'z = x * x + 3 * y', 'poly')
    ours = cupyx.numba.vectorize(polynomial)
    builder = vectorizers.CUDAVectorize(polynomial, targetoptions={})
    builder.add('float64(float64, float64)')
    theirs, there = builder.build_ufunc(), cuda.to_device(one.get())
    by_hand = seconds(lambda: kernel(x, y, out))
    return {
        'numba ufunc, throughput against ElementwiseKernel':
            by_hand / seconds(lambda: ours(x, y, out)),
        "numba ufunc, time of a call against numba's dispatcher":
            seconds(lambda: [ours(one, one) for _ in range(1000)])
            / seconds(lambda: [theirs(there, there) for _ in range(1000)]),
    }


def main() -> None:
    x = cp.abs(cp.random.normal(size=N))
    out = cp.empty_like(x)
    lists = ak.unflatten(x, cp.full(N // 3, 3))
    copy = seconds(lambda: cp.copyto(out, x))
    sqrt = seconds(lambda: cp.sqrt(x, out=out))
    direct = seconds(lambda: cp.sqrt(lists))
    by_hand = seconds(lambda: ak.unflatten(
        cp.sqrt(ak.to_cupy(ak.flatten(lists))), ak.to_cupy(ak.num(lists))))
    one = cp.ones(1)
    calls = seconds(lambda: [cp.add(one, one) for _ in range(1000)])
    print(json.dumps({
        'device': cp.cuda.runtime.getDeviceProperties(0)['name'].decode(),
        'cupy': cp.__version__,
        'bandwidth of sqrt against a copy': copy / sqrt,
        'copy, GB/s': 2 * x.nbytes / copy / 1e9,
        'cp.sqrt(lists), ms': 1e3 * direct,
        'the same by hand, ms': 1e3 * by_hand,
        'cp.add of 1 element, us': 1e3 * calls,
        **numba_figures(),
    }))


if __name__ == '__main__':
    main()
