"""Warp operations against the PTX ISA's pseudo-code (isa.py)."""
from __future__ import annotations

from collections.abc import Generator, Sequence
import random as random_
from typing import Any

import hypothesis
from hypothesis import strategies as st
import isa
import pytest
import simt

_words = st.integers(0, 0xffffffff)
_masks = st.integers(1, 0xffffffff)
_quick = hypothesis.settings(
    max_examples=30, deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])


def _random_words(random: random_.Random) -> list[int]:
    """Drawing each by hypothesis takes longer than the test."""
    return [random.getrandbits(32) for _ in range(32)]


def _lanes(mask: int) -> list[int]:
    return [n for n in range(32) if mask >> n & 1]


def _perform(lib: Any, stop: Any, mask: int, *,
             a: Sequence[int] = (0,) * 32, b: Sequence[int] = (0,) * 32,
             c: Sequence[int] = (0,) * 32) -> dict[int, simt.Result]:
    """Performs one operation among the lanes of `mask`; the others skip it.
    """
    results = {}

    def program(t: simt.Thread) -> Generator[simt.Wait, simt.Result, None]:
        n = t.index
        if mask >> n & 1:
            results[n] = yield simt.Wait(0, a[n], b[n], c[n], mask)
    assert simt.Kernel(program, [stop]).run(lib, 32) == 0
    assert sorted(results) == _lanes(mask)
    return results


def _check_shuffle(results: dict[int, simt.Result], op: int,
                   a: Sequence[int], b: Sequence[int],
                   c: Sequence[int]) -> None:
    for lane, result in results.items():
        source, inside = isa.shuffle_source(op, lane, b[lane], c[lane])
        assert result.dst2 == inside
        # A source lane that does not take part: the value is undefined.
        if source in results:
            assert result.dst == a[source]


@pytest.mark.parametrize('op', range(4))
@_quick
@hypothesis.given(mask=_masks, random=st.randoms(use_true_random=True))
def test_shuffle(lib: Any, op: int, mask: int,
                 random: random_.Random) -> None:
    a, b, c = (_random_words(random) for _ in range(3))
    results = _perform(lib, simt.stop(simt.SHFL, op), mask, a=a, b=b, c=c)
    _check_shuffle(results, op, a, b, c)


@pytest.mark.parametrize('op', range(4))
@pytest.mark.parametrize('mask', [0xffffffff, 0x0000ffff, 0x80000001])
def test_shuffle_by_constants(lib: Any, op: int, mask: int) -> None:
    a = [1000 + n for n in range(32)]
    for b in range(33):
        for c in (0, 31, 0x1f00, 0x181f, 0x1c03):
            stop = simt.stop(simt.SHFL, op, b=b, c=c, mask=mask)
            results = _perform(lib, stop, mask, a=a)
            _check_shuffle(results, op, a, [b] * 32, [c] * 32)


@pytest.mark.parametrize('op', range(4))
@pytest.mark.parametrize('constant_mask', [False, True])
@_quick
@hypothesis.given(mask=_masks, bits=_words)
@hypothesis.example(mask=0xf0, bits=0xf0)
@hypothesis.example(mask=0xf0, bits=0x0f)
@hypothesis.example(mask=0xffffffff, bits=0xffffffff)
@hypothesis.example(mask=0xffffffff, bits=0)
def test_vote(lib: Any, op: int, constant_mask: bool, mask: int,
              bits: int) -> None:
    predicate = [bits >> n & 1 for n in range(32)]
    stop = simt.stop(simt.VOTE, op, mask=mask if constant_mask else None)
    expected = isa.vote(op, _lanes(mask), predicate)
    for result in _perform(lib, stop, mask, c=predicate).values():
        assert result[0 if op == 3 else 1] == expected


@pytest.mark.parametrize('wide', [False, True])
@_quick
@hypothesis.given(mask=_masks, a=st.lists(
    st.sampled_from([0, 1, 2**32, 2**32 + 1, 2**63]), min_size=32,
    max_size=32))
def test_match_any(lib: Any, wide: bool, mask: int, a: list[int]) -> None:
    values = a if wide else [value % 3 for value in a]
    stop = simt.stop(simt.MATCH, int(wide))
    results = _perform(lib, stop, mask, a=values)
    expected = isa.match_any(_lanes(mask), values)
    assert {n: r.dst for n, r in results.items()} == expected


@pytest.mark.parametrize('wide', [False, True])
@_quick
@hypothesis.given(mask=_masks, odd=st.integers(0, 31))
def test_match_all(lib: Any, wide: bool, mask: int, odd: int) -> None:
    a = [2**63 + 5 if wide else 5] * 32
    a[odd] = 2**62 + 5 if wide else 6
    stop = simt.stop(simt.MATCH, 2 + wide)
    expected = isa.match_all(_lanes(mask), a)
    for result in _perform(lib, stop, mask, a=a).values():
        assert result == expected


@pytest.mark.parametrize('op', range(8))
@_quick
@hypothesis.given(mask=_masks, random=st.randoms(use_true_random=True))
def test_redux(lib: Any, op: int, mask: int,
               random: random_.Random) -> None:
    a = _random_words(random)
    expected = isa.redux(op, _lanes(mask), a)
    results = _perform(lib, simt.stop(simt.REDUX, op), mask, a=a)
    assert {r.dst for r in results.values()} == {expected}


@_quick
@hypothesis.given(mask=_masks)
def test_elect_chooses_one_lane(lib: Any, mask: int) -> None:
    results = _perform(lib, simt.stop(simt.ELECT), mask)
    leader = results[_lanes(mask)[0]].dst
    assert {r.dst for r in results.values()} == {leader}
    assert [n for n, r in results.items() if r.dst2] == [leader]


def test_activemask_holds_the_lanes_that_run_together(lib: Any) -> None:
    results = _perform(lib, simt.stop(simt.ACTIVEMASK), 0x00ff00ff)
    assert {r.dst for r in results.values()} == {0x00ff00ff}


def test_incomplete_warp(lib: Any) -> None:
    results = {}

    def program(t: simt.Thread) -> Generator[simt.Wait, simt.Result, None]:
        results[t.index] = yield simt.Wait(0, c=1)
    stop = simt.stop(simt.VOTE, 3, mask=simt.FULL)
    assert simt.Kernel(program, [stop]).run(lib, 40) == 0
    assert results[0].dst == simt.FULL
    assert results[39].dst == 0xff


def test_lanes_at_different_stops_of_one_operation(lib: Any) -> None:
    """A compiler may duplicate an instruction into both sides of a branch.
    """
    results = {}

    def program(t: simt.Thread) -> Generator[simt.Wait, simt.Result, None]:
        results[t.index] = yield simt.Wait(t.index % 2, a=t.index, b=1, c=31)
    stops = [simt.stop(simt.SHFL, isa.BFLY, line=1),
             simt.stop(simt.SHFL, isa.BFLY, b=1, c=31, line=2)]
    assert simt.Kernel(program, stops).run(lib, 32) == 0
    assert [results[n].dst for n in range(32)] == [n ^ 1 for n in range(32)]


def test_groups_of_a_warp_synchronise_apart(lib: Any) -> None:
    """Two halves with different member masks run different operations."""
    results = {}

    def program(t: simt.Thread) -> Generator[simt.Wait, simt.Result, None]:
        low = t.index < 16
        mask = 0xffff if low else 0xffff0000
        for _ in range(1 if low else 3):
            results[t.index] = yield simt.Wait(
                0 if low else 1, a=t.index, c=1, mask=mask)
    stops = [simt.stop(simt.REDUX, 0), simt.stop(simt.VOTE, 3)]
    assert simt.Kernel(program, stops).run(lib, 32) == 0
    assert results[3].dst == sum(range(16))
    assert results[20].dst == 0xffff0000


def test_members_that_exited_are_not_waited_for(lib: Any) -> None:
    results = {}

    def program(t: simt.Thread) -> Generator[simt.Wait, simt.Result, None]:
        if t.index % 2:
            yield simt.Wait(1)  # leaves after the others have arrived
            return
        results[t.index] = yield simt.Wait(0, a=1)
    stops = [simt.stop(simt.REDUX, 0, mask=simt.FULL),
             simt.stop(simt.YIELD)]
    assert simt.Kernel(program, stops).run(lib, 32) == 0
    assert {r.dst for r in results.values()} == {16}
