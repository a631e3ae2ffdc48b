"""What the benchmarks share: interleaved timing and a table of ratios."""
from __future__ import annotations

from collections.abc import Callable
import statistics
import time
from typing import Any


def interleaved(calls: dict[str, Callable[[], Any]],
                repeats: int = 7) -> dict[str, float]:
    """Times calls in turns, so that a disturbance hits all alike.

    Returns:
        dict: Median time of each call in seconds, the first round left out.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(t[1:]) for name, t in times.items()}


def show(title: str, times: dict[str, float], reference: str,
         unit: float = 1e-3, symbol: str = 'ms') -> None:
    """Prints the times and their ratio to the reference."""
    print(title)
    for name, seconds in times.items():
        ratio = seconds / times[reference]
        print(f'    {name:28}{seconds / unit:10.2f} {symbol}{ratio:8.2f}x')
