"""Barriers, divergence, exits and deadlocks.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions:
bar, barrier".
"""
from __future__ import annotations

from collections.abc import Generator
from typing import Any

import hostlib
import pytest
import simt

Steps = Generator[simt.Wait, simt.Result, None]


def _sync(line: int = 0) -> hostlib.Stop:
    return simt.stop(simt.BARRIER, a=0, b=-1, line=line)


@pytest.mark.parametrize('block', [1, 31, 32, 33, 100, (8, 4, 5)])
def test_nobody_passes_a_barrier_early(lib: Any, block: Any) -> None:
    arrived: list[int] = []
    counts = []

    def program(t: simt.Thread) -> Steps:
        for _ in range(3):
            arrived.append(t.index)
            yield simt.Wait(0)
            counts.append(len(arrived))
            yield simt.Wait(0)
    kernel = simt.Kernel(program, [_sync()])
    assert kernel.run(lib, block) == 0
    threads = len(counts) // 3
    assert threads == {(8, 4, 5): 160}.get(block, block)
    assert sorted(counts) == sorted([threads, 2 * threads,
                                     3 * threads] * threads)


def test_blocks_have_barriers_of_their_own(lib: Any) -> None:
    done = []

    def program(t: simt.Thread) -> Steps:
        yield simt.Wait(0)
        done.append(t)
    kernel = simt.Kernel(program, [_sync()])
    assert kernel.run(lib, 40, grid=7) == 0
    assert len(done) == 280
    assert {t.ctaid for t in done} == set(range(7))


def test_exited_threads_do_not_block_a_barrier(lib: Any) -> None:
    passed = []

    def program(t: simt.Thread) -> Steps:
        if t.index == 5:
            yield simt.Wait(1)  # exits when the others wait already
        elif t.index < 60:
            yield simt.Wait(0)
            passed.append(t.index)
    kernel = simt.Kernel(program, [_sync(), simt.stop(simt.YIELD)])
    assert kernel.run(lib, 64) == 0
    assert sorted(passed) == [n for n in range(60) if n != 5]


def test_lanes_of_one_warp_at_two_places_of_a_barrier(lib: Any) -> None:
    """barrier.sync, which need not be aligned: any threads may arrive."""
    passed = []

    def program(t: simt.Thread) -> Steps:
        yield simt.Wait(t.index % 3)
        passed.append(t.index)
    kernel = simt.Kernel(program, [_sync(1), _sync(2), _sync(3)])
    assert kernel.run(lib, 96) == 0
    assert sorted(passed) == list(range(96))


@pytest.mark.parametrize('op', ['popc', 'and', 'or'])
@pytest.mark.parametrize('chosen', [
    frozenset(), frozenset([40]), frozenset(range(0, 70, 2)),
    frozenset(range(70))])
def test_barrier_reduction(lib: Any, op: str, chosen: frozenset[int]) -> None:
    results = {}

    def program(t: simt.Thread) -> Steps:
        for _ in range(2):  # the second must start from nothing
            results[t.index] = yield simt.Wait(0, c=t.index in chosen)
    number = ('popc', 'and', 'or').index(op)
    stop = simt.stop(simt.BARRIER_RED, number, a=0, b=-1)
    assert simt.Kernel(program, [stop]).run(lib, 70) == 0
    if op == 'popc':
        assert {r.dst for r in results.values()} == {len(chosen)}
    else:
        expected = len(chosen) == 70 if op == 'and' else bool(chosen)
        assert {r.dst2 for r in results.values()} == {expected}


def test_named_barrier_of_some_warps(lib: Any) -> None:
    """Warps 0 and 1 meet at barrier 1 while 2 and 3 meet at barrier 2."""
    log: list[tuple[str, int]] = []

    def program(t: simt.Thread) -> Steps:
        group = t.index // 64
        for _ in range(2 if group else 5):
            log.append(('arrive', group))
            yield simt.Wait(0, a=1 + group)
            log.append(('pass', group))
    stop = simt.stop(simt.BARRIER, b=64)
    assert simt.Kernel(program, [stop]).run(lib, 128) == 0
    for group, rounds in ((0, 5), (1, 2)):
        events = [kind for kind, g in log if g == group]
        assert events == (['arrive'] * 64 + ['pass'] * 64) * rounds or \
            _never_ahead(events)


def _never_ahead(events: list[str]) -> bool:
    arrived = passed = 0
    for event in events:
        arrived += event == 'arrive'
        passed += event == 'pass'
        if passed > arrived // 64 * 64:
            return False
    return True


def test_producers_arrive_and_consumers_wait(lib: Any) -> None:
    produced: list[int] = []
    seen = []

    def program(t: simt.Thread) -> Steps:
        if t.index < 32:
            yield simt.Wait(0)
            seen.append(len(produced))
        else:
            produced.append(t.index)
            yield simt.Wait(1)  # goes on at once
            produced.append(t.index)
    stops = [simt.stop(simt.BARRIER, 0, a=3, b=64),
             simt.stop(simt.BARRIER, 1, a=3, b=64)]
    assert simt.Kernel(program, stops).run(lib, 64) == 0
    assert min(seen) >= 32


def test_count_covers_whole_warps(lib: Any) -> None:
    """Thread counts are in multiples of the warp size, so a last warp that
    is not full counts for 32 threads (PTX ISA: bar, operand b)."""
    passed = []

    def program(t: simt.Thread) -> Steps:
        yield simt.Wait(0)
        passed.append(t.index)
    stop = simt.stop(simt.BARRIER, a=0, b=64)
    assert simt.Kernel(program, [stop]).run(lib, 40) == 0
    assert len(passed) == 40


def test_a_lane_that_spins_lets_the_lock_holder_run(lib: Any) -> None:
    """A lock between lanes of a warp: the holder must get its turn."""
    lock: list[int] = []
    order = []

    def program(t: simt.Thread) -> Steps:
        while lock:
            yield simt.Wait(0)
        lock.append(t.index)
        yield simt.Wait(0)
        yield simt.Wait(0)
        order.append(lock.pop())
    assert simt.Kernel(program, [simt.stop(simt.YIELD)]).run(lib, 40) == 0
    assert sorted(order) == list(range(40))


def test_one_shared_counter_orders_warps(lib: Any) -> None:
    """Each thread waits for the one with the next higher index."""
    turn = [99]

    def program(t: simt.Thread) -> Steps:
        while turn[0] != t.index:
            yield simt.Wait(0)
        turn[0] -= 1
    assert simt.Kernel(program, [simt.stop(simt.YIELD)]).run(lib, 100) == 0
    assert turn == [-1]


def test_deadlock_names_kernel_and_lines(lib: Any) -> None:
    def program(t: simt.Thread) -> Steps:
        if t.index < 10:
            yield simt.Wait(0)
        else:
            yield simt.Wait(1, a=1)
    stops = [simt.stop(simt.BARRIER, a=0, b=-1, line=17),
             simt.stop(simt.REDUX, 0, mask=simt.FULL, line=42)]
    status = simt.Kernel(program, stops).run(lib, 32)
    text = hostlib.error_text(lib, status)
    assert status == hostlib.LAUNCH_TIMEOUT
    assert 'deadlock in kernel generators' in text
    assert '10 threads wait at barrier (PTX line 17)' in text
    assert '22 threads wait at redux.sync (PTX line 42)' in text


def test_different_operations_do_not_meet(lib: Any) -> None:
    def program(t: simt.Thread) -> Steps:
        yield simt.Wait(t.index % 2)
    stops = [simt.stop(simt.SHFL, 3, mask=simt.FULL),
             simt.stop(simt.VOTE, 3, mask=simt.FULL)]
    status = simt.Kernel(program, stops).run(lib, 32)
    assert status == hostlib.LAUNCH_TIMEOUT


def test_two_barriers_that_wait_for_each_other(lib: Any) -> None:
    def program(t: simt.Thread) -> Steps:
        yield simt.Wait(0, a=t.index // 32)
    stop = simt.stop(simt.BARRIER, b=-1)
    status = simt.Kernel(program, [stop]).run(lib, 64)
    assert status == hostlib.LAUNCH_TIMEOUT


def test_a_fault_ends_the_block(lib: Any) -> None:
    def program(t: simt.Thread) -> Steps:
        yield simt.Wait(0)
        raise ZeroDivisionError
    kernel = simt.Kernel(program, [_sync()])
    with pytest.raises(ZeroDivisionError):
        kernel.run(lib, 64)
    assert len(kernel.errors) == 1  # nobody ran after the fault


def test_blocks_that_wait_for_a_failed_one_give_up(lib: Any) -> None:
    started: set[int] = set()

    def program(t: simt.Thread) -> Steps:
        started.add(t.ctaid)
        while t.ctaid or len(started) < 2:
            yield simt.Wait(0)
        raise ZeroDivisionError
    before = lib.hd_get_num_threads()
    lib.hd_set_num_threads(2)
    try:
        with pytest.raises(ZeroDivisionError):
            simt.Kernel(program, [simt.stop(simt.YIELD)]).run(
                lib, 1024, grid=4)
    finally:
        lib.hd_set_num_threads(before)
