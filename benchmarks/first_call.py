"""First call of a ufunc's kernel: NVRTC, translation, LLVM and the rest.

Two processes are measured, the first with empty caches, the second with what
the first has left there. The host device only.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

NAMES = ('cos', 'arctan', 'exp2', 'hypot', 'cbrt', 'floor')


def timed(owner: Any, name: str, total: dict[str, float], key: str) -> None:
    """Adds up the time of a function that is an attribute of ``owner``."""
    function = getattr(owner, name)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            total[key] += time.perf_counter() - start
    setattr(owner, name, wrapper)


def child() -> None:
    import cupy as cp
    from cupy.cuda import compiler
    from cupy_backends.host.ptx import compile as translator
    from cupy_backends.host.runtime import jit
    x = cp.arange(10.)
    cp.sqrt(x)  # what is done once for all kernels
    total = dict.fromkeys(('NVRTC', 'translate', 'LLVM'), 0.)
    timed(compiler._NVRTCProgram, 'compile', total, 'NVRTC')
    timed(translator.Module, 'translate', total, 'translate')
    timed(jit, 'object_code', total, 'LLVM')
    start = time.perf_counter()
    for name in NAMES:
        func = getattr(cp, name)
        func(*(x,) * func.nin)
    total['all'] = time.perf_counter() - start
    print(json.dumps(total))


def measure(environment: dict[str, str]) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, 'child'], check=True,
                          env=environment, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, CUPY_DEVICE='host',
                           CUPY_CACHE_DIR=f'{folder}/cupy',
                           CUPY_HOST_CACHE_DIR=f'{folder}/host')
        for title in 'empty caches', 'second process':
            found = measure(environment)
            found['rest'] = 2 * found['all'] - sum(found.values())
            print(f'{title}, ms a kernel: ' + ', '.join(
                f'{name} {1e3 * seconds / len(NAMES):.1f}'
                for name, seconds in found.items()))


if __name__ == '__main__':
    child() if 'child' in sys.argv else main()
