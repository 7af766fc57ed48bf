# SPDX-License-Identifier: Apache-2.0
"""The ladder of the cores on a machine whose losses are known: each is the largest rung, with the size it has."""

import math

import pytest

from suites.cpu.conftest import World
from support.cpu_world import CLOCK_HZ
from ullage.model.plan import Case
from ullage.model.summary import Ladder

Gauges = dict[str, float]


def threads_of(case: Case) -> int:
    return int(str(case.workload.parameters.get("threads", 1)))


def ladder_of(world: World) -> Ladder:
    """The ladder of the cores; its product is always the share."""
    (ladder,) = world.summary().ladders
    assert ladder.part == "cores"
    assert math.prod(rung.factor for rung in [*ladder.rungs, ladder.unexplained]) == pytest.approx(ladder.share)
    return ladder


def test_an_equal_machine_names_no_cause(world: World) -> None:
    ladder = ladder_of(world)
    assert ladder.share == pytest.approx(0.98)
    assert not any(rung.is_sure for rung in ladder.rungs)
    assert not any(finding.kind == "rung" for finding in world.summary().findings)


def test_cpus_that_share_a_core_are_named(world: World) -> None:
    def shared(case: Case, gauges: Gauges) -> Gauges:
        slow = 2 if threads_of(case) > 2 else 1
        return {**gauges, **{name: gauges[name] / slow for name in ("instructions", "operations") if name in gauges}}

    world.engine.changed = shared
    ladder = ladder_of(world)
    assert ladder.share == pytest.approx(0.49)
    (first,) = [rung for rung in ladder.rungs if rung.is_sure]
    assert (first.kind, first.factor) == ("shared-cores", pytest.approx(0.5))
    assert "share a core" in first.advice
    (finding,) = [one for one in world.summary().findings if one.kind == "rung"]
    assert finding.gain is not None
    assert finding.gain.factor == pytest.approx(2)


def test_a_lower_clock_of_wide_units_is_named_and_ranks_nowhere(world: World) -> None:
    def slow(case: Case, gauges: Gauges) -> Gauges:
        names = ("instructions", "operations", "cycles", "clock_hz")
        wide = case.workload.parameters.get("isa", "scalar") != "scalar"
        return {**gauges, **{name: gauges[name] * 0.8 for name in names if wide and name in gauges}}

    world.engine.changed = slow
    ladder = ladder_of(world)
    assert ladder.ceiling.value == pytest.approx(4 * CLOCK_HZ * 16)
    (first,) = [rung for rung in ladder.rungs if rung.is_sure]
    assert (first.kind, first.factor, first.may_rank) == ("clock", pytest.approx(0.8), False)
    assert first.what == f"The clock under {first.what.split()[3][:-1]}: 3.20 GHz in place of 4.00 GHz"


@pytest.mark.parametrize(
    ("foreign", "stolen", "kind", "words"),
    [
        (400_000, 0, "waited", "Other programs had 40 %"),
        (0, 0, "waited", "Threads may share a CPU"),
        (0, 300_000, "stolen", "dedicated"),
    ],
)
def test_time_taken_by_others_is_named_although_the_rows_are_disturbed(
    world: World, foreign: int, stolen: int, kind: str, words: str
) -> None:
    waited = 0 if stolen else 500_000
    world.engine.contamination = {
        "foreign_cpu_ppm": foreign, "steal_ppm": stolen, "run_delay_ppm": waited, "involuntary_switches": 0,
        "kernel_threads_ppm": 0, "uncertainty_ppm": 1000, "cores_per_rank": 4.0,
    }  # fmt: skip
    left = 1 - (waited + stolen) / 1e6

    def slow(_case: Case, gauges: Gauges) -> Gauges:
        return {**gauges, **{name: gauges[name] * left for name in ("instructions", "operations") if name in gauges}}

    world.engine.changed = slow
    ladder = ladder_of(world)
    first = min(ladder.rungs, key=lambda rung: rung.factor)
    assert (first.kind, first.factor, first.is_sure) == (kind, pytest.approx(left), True)
    assert words in first.advice
