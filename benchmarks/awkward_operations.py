"""Awkward's operations on 5 million lists: CUDA backend against CPU backend.

On a GPU this is the GPU against one thread.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import awkward as ak
import cupy as cp
import numpy as np

import measure

OPERATIONS = {
    'ak.sum(x, axis=-1)': lambda x: ak.sum(x, axis=-1),
    'ak.max(x, axis=-1)': lambda x: ak.max(x, axis=-1),
    'ak.sum(x, axis=None)': lambda x: ak.sum(x, axis=None),
    'ak.sort(x)': ak.sort,
    'x[x > 0]': lambda x: x[x > 0],
    'ak.pad_none(x, 2)': lambda x: ak.pad_none(x, 2),
    'ak.combinations(x, 2)': lambda x: ak.combinations(x, 2),
}


def compare(name: str, operation: Callable[[ak.Array], Any],
            host: ak.Array, device: ak.Array) -> None:
    def run() -> None:
        operation(device)
        cp.cuda.Device().synchronize()

    times = measure.interleaved({
        'CPU backend': lambda: operation(host), 'CUDA backend': run},
        repeats=3)
    measure.show(name, times, 'CPU backend')


def main() -> None:
    generator = np.random.default_rng(1)
    counts = generator.integers(0, 7, 5_000_000)
    host = ak.unflatten(generator.normal(size=counts.sum()), counts)
    device = ak.to_backend(host, 'cuda')
    print(f'{len(host):,} lists, {len(ak.flatten(host)):,} float64')
    for name, operation in OPERATIONS.items():
        compare(name, operation, host, device)


if __name__ == '__main__':
    main()
