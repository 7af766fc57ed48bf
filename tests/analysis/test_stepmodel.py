# SPDX-License-Identifier: Apache-2.0
"""The model of a program that keeps its states: beside a schedule that is played through, and a cache that is too."""

import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.analysis.stepmodel import Calls, Computation, cached_share, least_depth, predict, reading_order, scaling_of


def played_writes(steps: int, step_s: float, state_s: float, depth: int) -> float:
    """The forward phase of one rank with one helper: a step waits for the slot that its state needs."""
    now, free, under_way = 0.0, 0.0, deque[float]()
    for _ in range(steps):
        if depth and len(under_way) > depth:
            now = max(now, under_way.popleft())
        now += step_s
        if depth == 0:
            now += state_s
            continue
        free = max(free, now) + state_s
        under_way.append(free)
    return max(now, free)


def played_reads(steps: int, step_s: float, state_s: float, depth: int) -> float:
    """The adjoint of one rank with one helper that reads up to ``depth`` states ahead."""
    if depth == 0:
        return steps * (step_s + state_s)
    read_at: list[float] = []
    used_at: list[float] = []
    for step in range(steps):
        slot_free = used_at[step - depth - 1] if step > depth else 0.0
        read_at.append(max(read_at[-1] if read_at else 0.0, slot_free) + state_s)
        used_at.append(max(used_at[-1] if used_at else 0.0, read_at[-1]) + step_s)
    return used_at[-1]


@given(st.integers(1, 200), st.floats(0.001, 1), st.floats(0.001, 1), st.integers(0, 4))
def test_the_model_is_the_schedule_that_is_played_through(
    steps: int, step_s: float, state_s: float, depth: int
) -> None:
    work = Computation(1, steps, step_s)
    found = predict(work, [Calls(1.0, [steps * state_s] * 3, state_s)], depth)
    for played in (played_writes, played_reads):
        assert found.seconds == pytest.approx(played(steps, step_s, state_s, depth), rel=1e-6)
    assert found.low == pytest.approx(found.high)


def test_the_interval_is_that_of_the_measured_spread() -> None:
    work, walls = Computation(4, 100, 0.1), [9.0, 10.0, 11.0]
    found = predict(work, [Calls(1.0, walls, 0.1)], 0)
    assert found.seconds == pytest.approx(20)
    assert found.high is not None
    assert found.high - found.seconds == pytest.approx(math.sqrt(1 + 1 / 3))
    hidden = predict(work, [Calls(1.0, [1.0, 1.1, 1.2], 0.01)], 2)
    assert (hidden.seconds, hidden.low, hidden.high) == (pytest.approx(10.01),) * 3
    assert predict(work, [Calls(1.0, [10.0], 0.1)], 0).low is None


def test_reads_are_shared_between_cache_and_storage() -> None:
    work = Computation(2, 100, 0.01)
    found = predict(work, [Calls(0.3, [1.0, 1.0], 0.01), Calls(0.7, [10.0, 10.0], 0.1)], 0)
    assert found.seconds == pytest.approx(1.0 + 0.3 * 1 + 0.7 * 10)


def test_the_slowest_rank_decides() -> None:
    assert Computation(4, 100, 0.1, imbalance=0.5).slowest_s == pytest.approx(15)
    assert Computation(1, 100, 0.1, imbalance=0.5).slowest_s == pytest.approx(10)
    alike = Computation(64, 10_000, 1e-3, jitter=0.3).slowest_s
    deviation = 1e-3 * 0.3 * math.sqrt(10_000 / 3)
    assert 10 + 2.2 * deviation < alike < 10 + 2.6 * deviation  # 2.39 by Monte Carlo of 64 normal values


def test_states_ahead_are_as_many_as_a_read_takes_steps() -> None:
    assert [least_depth(state_s, 0.1) for state_s in (0.01, 0.1, 0.11, 0.35)] == [1, 1, 2, 4]


def share_by_times(order: list[int], cached: int, *, removes: bool) -> float:
    """The same by the definition: of what is held, what was used longest ago goes when there are too many."""
    used = {step: step for step in range(max(0, len(order) - cached), len(order))}
    hits = 0
    for time, step in enumerate(order, start=len(order)):
        hits += step in used
        used[step] = time
        if removes:
            del used[step]
        while len(used) > cached:
            del used[min(used, key=lambda one: used[one])]
    return hits / len(order)


@given(
    st.integers(1, 60),
    st.integers(0, 70),
    st.sampled_from(["reverse", "forward", "stride:3", "stride:7"]),
    st.booleans(),
)
def test_shares_of_a_cache_are_those_of_its_definition(steps: int, cached: int, word: str, removes: bool) -> None:
    order = reading_order(word, steps)
    assert sorted(order) == list(range(steps))
    found = cached_share(order, cached, removes=removes)
    assert found == pytest.approx(share_by_times(order, cached, removes=removes))
    if word == "reverse":
        assert found == pytest.approx(min(1.0, cached / steps))
    if word == "forward" and not removes and cached < steps:
        assert found == 0


def test_the_measured_case_of_the_literature() -> None:
    """2 ranks, 200 files of 5 MB, a cache of 336 MB: 30.6 % were measured in reverse, none forward."""
    states = 336_000_000 // (2 * 5_000_000)
    assert cached_share(reading_order("reverse", 100), states) == pytest.approx(0.33)
    assert cached_share(reading_order("forward", 100), states) == 0


def test_two_points_are_fitted_and_not_validated() -> None:
    assert scaling_of([(4, 1e9)]) is None
    two = scaling_of([(72, 6.0e9), (512, 0.845e9)])
    assert two is not None
    assert (round(two.exponent, 3), two.residual, two.points) == (-0.999, None, (72, 512))


def test_three_points_tell_how_well_the_law_holds() -> None:
    exact = scaling_of([(ranks, 1e9 * ranks**-0.5) for ranks in (4, 1, 2)])
    assert exact is not None
    assert exact.exponent == pytest.approx(-0.5)
    assert exact.residual == pytest.approx(0, abs=1e-9)
    assert exact.points == (1, 2, 4)
    bent = scaling_of([(1, 1.0), (2, 2.0), (4, 2.0)])
    assert bent is not None
    assert bent.residual is not None
    assert bent.residual > 0.1
