"""CuPy ufuncs on a ragged Awkward Array that lives on the device.

Five million lists of about three numbers each are made on the device. Each
ufunc is applied to them as they are, beside the same by hand (flatten, call,
unflatten), and compared with Awkward's CPU backend.

Run it on a GPU, or with ``CUPY_DEVICE=host`` where there is none::

    CUPY_DEVICE=host python examples/awkward_sqrt.py [number of lists]
"""
from __future__ import annotations

from collections.abc import Callable
import sys
import time
from typing import Any

import awkward as ak
import cupy as cp
import numpy as np

# What is called, on lists (or on their flat content) and one number a list.
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    'np.abs(values)': lambda xp, values, other: np.abs(values),
    'cp.abs(values)': lambda xp, values, other: xp.abs(values),
    'cp.sqrt(cp.abs(values))':
        lambda xp, values, other: xp.sqrt(xp.abs(values)),
    'cp.add(values, 1)': lambda xp, values, other: xp.add(values, 1),
    'cp.add(values, values)': lambda xp, values, other: xp.add(values, values),
    'cp.hypot(values, other)': lambda xp, values, other: xp.hypot(
        values, other),
}


def make_lists(n: int) -> tuple[ak.Array, cp.ndarray]:
    """Returns ``n`` lists of normal numbers, and one more number a list."""
    cp.random.seed(3232)
    counts = cp.random.poisson(lam=3, size=n)
    content = cp.random.normal(size=int(counts.sum()))
    return ak.unflatten(content, counts), cp.random.normal(size=n)


def by_hand(call: Callable[[Any, Any, Any], Any], values: ak.Array,
            other: cp.ndarray, broadcasts: bool) -> ak.Array:
    """Flattens, calls CuPy on plain arrays and restores the lists."""
    counts = ak.to_cupy(ak.num(values))
    content = ak.to_cupy(ak.flatten(values))
    if broadcasts:
        ends = cp.cumsum(counts)
        other = other[cp.searchsorted(
            ends, cp.arange(len(content)), side='right')]
    return ak.unflatten(call(cp, content, other), counts)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Returns the second call's result and its time in milliseconds."""
    call()  # compiles the kernels
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    result = call()
    cp.cuda.Device().synchronize()
    return result, 1e3 * (time.perf_counter() - start)


def agree(result: ak.Array, expected: ak.Array) -> bool:
    """Whether both are the same lists, up to the last bits of a double."""
    result = ak.to_backend(result, 'cpu')
    return bool(
        np.array_equal(ak.num(result), ak.num(expected)) and np.allclose(
            ak.to_numpy(ak.flatten(result)), ak.to_numpy(ak.flatten(expected)),
            rtol=1e-14, atol=0))


def show(name: str, values: ak.Array, other: cp.ndarray) -> bool:
    """Runs one call in all three ways and prints what came of it."""
    call = CALLS[name]
    print(f'{name} ...', flush=True)
    result, direct_ms = timed(lambda: call(cp, values, other))
    _, hand_ms = timed(
        lambda: by_hand(call, values, other, 'other' in name))
    expected = call(np, ak.to_backend(values, 'cpu'), cp.asnumpy(other))
    same = agree(result, expected)
    print(f'    {result}')
    print(f'    type {result.type}, backend {ak.backend(result)}, '
          f'{"equals" if same else "DIFFERS FROM"} the CPU backend\'s answer')
    print(f'    {direct_ms:.0f} ms, by hand {hand_ms:.0f} ms', flush=True)
    return same


def main(n: int) -> int:
    device = cp.cuda.runtime.getDeviceProperties(0)['name'].decode()
    print(f'Device: {device}', flush=True)
    values, other = make_lists(n)
    print(f'{n:,} lists, {len(ak.flatten(values)):,} values', flush=True)
    same = [show(name, values, other) for name in CALLS]
    return 0 if all(same) else 1


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000))
