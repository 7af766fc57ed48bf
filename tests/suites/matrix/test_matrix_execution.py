# SPDX-License-Identifier: Apache-2.0
"""The course of a run of known cells on a simulated engine: who is measured how often, and when it ends."""

import pytest

from suites.matrix.conftest import World
from ullage.model.plan import Case, Plan
from ullage.results.folder import ResultFolder


def test_a_quiet_machine_ends_early_with_every_cell_at_its_minimum(world: World) -> None:
    code, session = world.run(world.prepare())
    assert (code, session.messages) == (0, [])
    assert world.counts() == [6] * 8
    assert world.events() == []
    assert {plan.run_id for plan in world.engine.plans} == {"r1"}, "nothing is left to a probe"


@pytest.mark.parametrize("seconds", [5, 20])
def test_the_time_is_kept_however_little_it_is(world: World, seconds: int) -> None:
    def cost(case: Case, plan: Plan) -> float:
        del plan
        size = case.workload.parameters["block_bytes"]
        assert isinstance(size, int)
        return size / 4e6

    world.engine.cost, world.engine.spread = cost, 0.2
    code, _ = world.run(world.prepare(time=f"{seconds}s"))
    assert code == 0
    assert world.clock.at - 1000 <= 1.1 * seconds + 1.1
    assert sum(world.counts()) > 0


def test_cells_without_their_minimum_are_said(world: World) -> None:
    world.engine.cost = lambda _case, _plan: 0.5
    world.run(world.prepare(time="10s"))
    assert min(world.counts()) < 3
    assert world.events() == ["time-too-short"]


def test_wide_intervals_get_the_rest_of_the_time(world: World) -> None:
    world.engine.spread = 0.4
    world.run(world.prepare(time="60s"))
    assert max(world.counts()) > 3


def test_resume_finishes_what_a_dead_rank_left_and_starts_nothing_when_all_is_there(world: World) -> None:
    world.engine.ends[1] = "die"
    assert world.run(world.prepare())[0] == 5
    assert world.resume()[0] == 0
    assert world.counts() == [6] * 8
    done = len(world.engine.plans)
    assert world.resume()[0] == 0
    assert len(world.engine.plans) == done


def test_what_is_not_as_expected_is_an_event_once(world: World) -> None:
    world.run(world.prepare(direct=True, tests="0,6"))
    assert world.events() == ["page-cache"]
    assert world.resume()[0] == 0
    assert world.events() == ["page-cache"]


def test_plans_are_one_launch_and_nothing_is_unsettled(world: World) -> None:
    prepared = world.prepare()
    assert prepared.unsettled == ""
    (plan,) = prepared.plans(ResultFolder(world.path / "result"))
    assert (plan.layout.ranks, len(plan.cases)) == (1, 8)


def test_an_explanation_says_everything_and_touches_nothing(world: World) -> None:
    explanation = world.prepare(file="1M,16M", record="4K,64K", cache="none").explain()
    text = "\n".join([*explanation.head, *explanation.tail])
    assert "Cases: 6, in 1 launches at least; files and records as asked" in text
    assert "1 pairs of file and record are left out" in text
    assert "expect the verdict warm" in text
    assert list(world.target.iterdir()) == []
