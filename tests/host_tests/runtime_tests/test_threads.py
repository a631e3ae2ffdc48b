"""The worker threads, and fork()."""
from __future__ import annotations

from collections.abc import Iterator
import ctypes
import os
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import hostlib
import pytest
from translators import Straight


@pytest.fixture
def four_threads(lib: Any) -> Iterator[None]:
    before = lib.hd_get_num_threads()
    lib.hd_set_num_threads(4)
    yield
    lib.hd_set_num_threads(before)


def run(lib: Any, kernel: Straight, grid: int) -> int:
    status: int = lib.hd_run_kernel(
        ctypes.byref(kernel.struct), hostlib.dim3(grid), hostlib.dim3(32), 0,
        None, None)
    if kernel.errors:
        raise kernel.errors[0]
    return status


def test_every_block_runs_once(lib: Any, four_threads: None) -> None:
    blocks: list[int] = []

    def body(launch: Any, block: Any, first: int, end: int) -> None:
        blocks.extend(range(first, end))
    for grid in (1, 2, 63, 1000, 12345):
        blocks.clear()
        assert run(lib, Straight(body), grid) == 0
        assert sorted(blocks) == list(range(grid))


def test_a_large_grid_uses_the_threads(lib: Any, four_threads: None) -> None:
    workers = {}

    def body(launch: Any, block: Any, first: int, end: int) -> None:
        workers[block.worker] = threading.get_native_id()
        time.sleep(0.01)
    run(lib, Straight(body), 4000)
    assert len(workers) > 1
    assert set(workers) <= set(range(4))
    assert workers[0] == threading.get_native_id()
    assert len(set(workers.values())) == len(workers)


def test_a_small_grid_stays_on_the_calling_thread(
        lib: Any, four_threads: None) -> None:
    threads = set()

    def body(launch: Any, block: Any, first: int, end: int) -> None:
        threads.add(threading.get_native_id())
    run(lib, Straight(body), 4)
    assert threads == {threading.get_native_id()}


def test_a_block_may_wait_for_earlier_ones(lib: Any,
                                           four_threads: None) -> None:
    """Look-back scans do: blocks must start in order."""
    done: set[int] = set()

    def body(launch: Any, block: Any, first: int, end: int) -> None:
        for index in range(first, end):
            limit = time.monotonic() + 20
            while index and index - 1 not in done:
                assert time.monotonic() < limit, 'an earlier block hangs'
            done.add(index)
    assert run(lib, Straight(body), 2000) == 0
    assert len(done) == 2000


def test_launches_from_several_threads(lib: Any, four_threads: None) -> None:
    counts = [0] * 8

    def launch_often(number: int) -> None:
        def body(launch: Any, block: Any, first: int, end: int) -> None:
            counts[number] += end - first
        for _ in range(5):
            run(lib, Straight(body), 1000)
    threads = [threading.Thread(target=launch_often, args=(n,))
               for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert counts == [5000] * 8


def test_number_of_threads_from_the_environment(lib: Any) -> None:
    script = textwrap.dedent('''
        import ctypes, sys
        print(ctypes.CDLL(sys.argv[1]).hd_get_num_threads())
    ''')

    def threads(value: str | None) -> int:
        environment = {**os.environ, 'CUPY_HOST_NUM_THREADS': value or ''}
        done = subprocess.run(
            [sys.executable, '-c', script, lib._name], env=environment,
            capture_output=True, text=True, check=True)
        return int(done.stdout)
    assert threads('3') == 3
    for meaningless in (None, '0', '-2', 'many'):
        assert threads(meaningless) == len(os.sched_getaffinity(0))


FORK = '''
import ctypes, os, sys, threading, warnings
sys.path.insert(0, sys.argv[2])
import hostlib
from translators import Straight
lib = hostlib.load(sys.argv[1])
lib.hd_set_num_threads(3)

def blocks():
    seen = []
    workers = set()
    def body(launch, block, first, end):
        seen.extend(range(first, end))
        workers.add(block.worker)
        threading.Event().wait(0.005)
    kernel = Straight(body)
    status = lib.hd_run_kernel(ctypes.byref(kernel.struct),
                               hostlib.dim3(3000), hostlib.dim3(32), 0, None,
                               None)
    assert status == 0 and sorted(seen) == list(range(3000))
    return len(workers)

assert blocks() > 1
warnings.simplefilter('ignore')  # Python warns of threads at fork
child = os.fork()
if child == 0:
    pointer = ctypes.c_void_p()
    good = lib.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(64)) == 0
    os._exit(0 if good and blocks() > 1 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
assert blocks() > 1
'''


def test_fork(lib: Any) -> None:
    folder = os.path.dirname(hostlib.__file__)
    done = subprocess.run([sys.executable, '-c', FORK, lib._name, folder],
                          capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ('0\n', '')
    assert done.returncode == 0
