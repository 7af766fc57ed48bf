# SPDX-License-Identifier: Apache-2.0
import os
import threading
from collections.abc import Callable
from functools import partial

import pytest

from steps.counts import Counts
from steps.process import StepError
from steps.schedule import LEAST_URGENT, Step, carry_out

Body = Callable[[], Counts]


def noted(done: list[str], name: str, counts: Counts | None = None) -> Body:
    def run() -> Counts:
        done.append(name)
        return counts or Counts(passed=1)

    return run


def failing() -> Counts:
    raise StepError("asan: exit code 1")


def test_all_are_counted_whatever_becomes_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[str] = []
    steps = [
        Step("broken", failing),
        Step("lint", noted(done, "lint", Counts(passed=6, failed=1)), "aside"),
        Step("front", noted(done, "front", Counts(passed=3, skipped=2))),
    ]
    assert carry_out(steps) == Counts(9, 2, 2, ("broken: asan: exit code 1",))
    assert sorted(done) == ["front", "lint"]
    said = capsys.readouterr().out
    assert "-- asan: exit code 1\n-- broken: 0 passed, 1 failed (" in said
    assert "-- front: 3 passed, 0 failed, 2 skipped (" in said


def test_what_is_alone_has_nothing_beside_it() -> None:
    done: list[str] = []
    steps = [
        Step("lint", noted(done, "lint"), "aside"),
        Step("timed", noted(done, "timed"), "alone"),
        Step("front", noted(done, "front"), needs=("lint",)),
    ]
    carry_out(steps)
    assert done == ["timed", "lint", "front"]


def test_steps_aside_go_on_beside_those_in_turn_and_yield_to_them() -> None:
    in_turn_goes_on, aside_is_at_work = threading.Event(), threading.Event()
    done: list[str] = []
    niceness: list[int] = []

    def build() -> Counts:
        aside_is_at_work.set()
        assert in_turn_goes_on.wait(10)
        niceness.append(os.nice(0))
        return noted(done, "build", Counts())()

    def front() -> Counts:
        assert aside_is_at_work.wait(10)
        done.append("front")
        in_turn_goes_on.set()
        niceness.append(os.nice(0))
        return Counts(passed=1)

    steps = [
        Step("build", build, "aside"),
        Step("more", noted(done, "more"), "aside"),
        Step("front", front),
        Step("engine", noted(done, "engine"), needs=("build", "more")),
    ]
    assert carry_out(steps) == Counts(passed=3)
    assert done.index("front") < done.index("build")
    assert (sorted(done[:-1]), done[-1]) == (["build", "front", "more"], "engine")
    assert max(niceness) == LEAST_URGENT
    assert os.nice(0) in niceness


def test_two_steps_aside_are_at_work_at_a_time_in_their_order() -> None:
    both, done = threading.Barrier(2, timeout=10), list[str]()

    def meet(name: str) -> Counts:
        both.wait()
        return noted(done, name)()

    names = ("asan", "tsan", "apart", "lint")
    steps = [Step(name, partial(meet, name), "aside") for name in names]
    assert carry_out([*steps, Step("front", Counts, needs=("asan",))]) == Counts(passed=4)
    assert (sorted(done[:2]), sorted(done[2:])) == (["asan", "tsan"], ["apart", "lint"])


def test_a_step_that_counts_nothing_is_not_spoken_of(capsys: pytest.CaptureFixture[str]) -> None:
    carry_out([Step("front", noted([], "front")), Step("build of asan", Counts, "aside")])
    assert "asan" not in capsys.readouterr().out
