# SPDX-License-Identifier: Apache-2.0
"""Whole runs on simulated storage: rounds, resuming at the phase a run was in, exit codes."""

import shutil
from pathlib import Path

import pytest

from suites.io500.conftest import World
from ullage.model.plan import Case, Plan
from ullage.suites.io500.phases import phases_of
from ullage.suites.io500.planning import phase_of_case

STANDARD = [phase.name for phase in phases_of("standard")]


def names(plan: Plan) -> list[str]:
    found = [phase_of_case(case, phases_of("extended")) for case in plan.cases]
    return [phase.name for phase in found if phase is not None]


def test_a_run_is_a_probe_and_one_launch_with_every_phase_in_order(world: World) -> None:
    code, session = world.run(world.prepare())
    assert code == 0
    assert session.messages == []
    assert len(world.engine.probes) == 1
    (plan,) = world.engine.plans
    assert names(plan) == STANDARD
    assert (plan.order, plan.keep, plan.keep_when_interrupted) == ("listed", False, False)
    assert plan.stop_rule.parameters == {"count": 1}
    assert (Path(plan.records).parent.parent / "probe" / "001" / "records.ndjson").is_file()


def test_the_extended_mode_has_all_nineteen(world: World) -> None:
    assert world.run(world.prepare(mode="extended"))[0] == 0
    (plan,) = world.engine.plans
    assert names(plan) == [phase.name for phase in phases_of("extended")]


def test_sizes_are_settled_once(world: World) -> None:
    world.engine.interrupt_at = (1, 3)
    world.run(world.prepare(resumable=True))
    first = world.result.read_request().options["sizes"]
    assert first
    world.resume()
    assert world.result.read_request().options["sizes"] == first
    assert len(world.engine.probes) == 1


SIZES = "[ior-easy]\nblockSize=64m\n[ior-hard]\nsegmentCount=9\n[mdtest-easy]\nn=7\n[mdtest-hard]\nn=8\n"


def test_given_sizes_need_no_probe_before_a_look(world: World) -> None:
    prepared = world.prepare(SIZES, stonewall="1")
    assert prepared.unsettled == ""
    assert world.run(prepared)[0] == 0
    assert world.engine.probes == []


def test_given_sizes_are_used_and_before_a_long_run_it_is_said_how_long_they_last(world: World) -> None:
    assert world.run(world.prepare(SIZES))[0] == 0
    (said,) = [line for line in world.progress.said if line.startswith("warning: a: mdtest-easy-write has work for")]
    assert "about 1.40 ms of the 5m00s" in said
    assert "raise n in" in said
    by_name = dict(zip(names(world.engine.plans[0]), world.engine.plans[0].cases, strict=True))
    assert by_name["ior-easy-write"].workload.parameters["block_bytes"] == 64 << 20
    assert by_name["ior-hard-read"].workload.parameters["segments"] == 9
    assert by_name["mdtest-easy-stat"].workload.parameters["items"] == 7
    assert by_name["mdtest-hard-delete"].workload.parameters["items"] == 8


def test_each_round_is_a_launch_with_data_of_its_own(world: World) -> None:
    world.run(world.prepare(repeat=3, keep=True))
    assert [plan.seed for plan in world.engine.plans] == [1, 2, 3]
    assert [plan.keep for plan in world.engine.plans] == [False, False, True]
    row = world.summary().rows[0]
    assert row.params["phase"] == "ior-easy-write"
    assert len(row.repetitions) == 3
    assert world.summary().scores[0].low is None, "3 rounds have no interval"


def test_several_targets_are_measured_one_after_the_other(world: World) -> None:
    world.run(world.prepare(targets=2))
    assert [plan.targets[0].name for plan in world.engine.plans] == ["a", "b"]
    assert len(world.engine.probes) == 2
    assert {score.name for score in world.summary().scores} >= {"IO500 of a", "IO500 of b"}
    assert "ior-easy-write" in world.text("target-1/result_summary.txt")
    assert "ior-easy-write" in world.text("target-2/result_summary.txt")


def test_an_interrupted_run_goes_on_at_the_phase_it_was_in(world: World) -> None:
    world.engine.interrupt_at = (1, 5)
    code, _ = world.run(world.prepare(resumable=True))
    assert code == 5
    assert world.resume()[0] == 0
    assert names(world.engine.plans[1]) == STANDARD[5:]
    assert world.engine.plans[1].continues
    assert not any(event.kind == "made-again" for event in world.summary().events)
    assert len({row.params["phase"] for row in world.summary().rows}) == len(STANDARD) - 1


def test_what_is_complete_is_left_alone(world: World) -> None:
    world.run(world.prepare())
    assert world.resume()[0] == 0
    assert len(world.engine.plans) == 1


@pytest.mark.parametrize("is_gone", [True, False])
def test_where_the_data_is_gone_it_is_made_again_and_the_first_value_counts(world: World, is_gone: bool) -> None:
    world.engine.interrupt_at = (1, 10)
    world.run(world.prepare(resumable=is_gone))
    if is_gone:
        shutil.rmtree(world.path / "a" / "ullage-r1")
    first = world.summary().rows[0]
    assert first.params["phase"] == "ior-easy-write"
    world.engine.bytes_per_s *= 2
    assert world.resume()[0] == 0
    again = ["ior-easy-write", "mdtest-easy-write", "mdtest-hard-write"]
    assert names(world.engine.plans[1]) == [*again, *STANDARD[10:]]
    assert not world.engine.plans[1].continues
    assert world.summary().rows[0].repetitions == first.repetitions
    assert "run again" in world.progress.said[-1]


def test_find_needs_everything_and_files_newer_than_its_timestamp(world: World) -> None:
    world.engine.interrupt_at = (1, 5)
    world.run(world.prepare())
    world.resume()
    assert names(world.engine.plans[1]) == STANDARD


def test_a_later_round_goes_on_too(world: World) -> None:
    world.engine.interrupt_at = (2, 4)
    assert world.run(world.prepare(repeat=2, resumable=True))[0] == 5
    assert world.resume()[0] == 0
    assert names(world.engine.plans[2]) == STANDARD[4:]
    assert world.engine.plans[2].seed == 2
    assert all(len(row.repetitions) == 2 for row in world.summary().rows)


def test_a_failed_phase_makes_the_exit_code_4(world: World) -> None:
    def spoil(plan: Plan, case: Case, record: dict[str, object]) -> None:
        del plan
        if case.dataset == "mdtest-hard" and record["phase"] == "stat":
            failure = {"rank": 1, "node": "n", "operation": "stat", "path": "file.mdtest.1.5", "errno": 2}
            record |= {"status": "failed", "failures": [{**failure, "text": "No such file or directory"}]}

    world.engine.spoil = spoil
    assert world.run(world.prepare())[0] == 4
    (score,) = [score for score in world.summary().scores if score.name == "IO500"]
    assert not score.valid
    assert any("mdtest-hard-stat" in reason and "No such file" in reason for reason in score.reasons)


def test_bad_data_makes_the_exit_code_4(world: World) -> None:
    def spoil(plan: Plan, case: Case, record: dict[str, object]) -> None:
        del plan
        if case.dataset == "mdtest-hard" and record["phase"] == "read":
            record["bad_blocks"] = 6000

    world.engine.spoil = spoil
    assert world.run(world.prepare())[0] == 4
    assert any("6,000 bad blocks" in reason for reason in world.summary().scores[0].reasons)


def test_a_short_find_makes_the_exit_code_4(world: World) -> None:
    def spoil(plan: Plan, case: Case, record: dict[str, object]) -> None:
        del plan, case
        if record["phase"] == "find":
            record["counters"] = {"found": 1, "scanned": 9, "errors": 0}

    world.engine.spoil = spoil
    assert world.run(world.prepare())[0] == 4
    assert any("found 1 of the" in reason for reason in world.summary().scores[0].reasons)


def test_time_that_walls_leave_goes_into_wear_out(world: World) -> None:
    world.run(world.prepare(stonewall="10", time="100"))
    write = world.engine.plans[0].cases[0].workload.parameters
    assert write["wear_out_limit_s"] == pytest.approx((100 - 5 * 10) / 5)
    assert world.engine.plans[0].time_budget_s == pytest.approx(100)


def test_a_probe_that_cannot_run_ends_the_run(world: World) -> None:
    world.engine.start = _refuse  # type: ignore[method-assign,assignment]
    code, session = world.run(world.prepare())
    assert code == 3
    assert session.messages == ["target 'a': is full"]


def _refuse(*_words: object) -> object:
    from ullage.launch.process import LaunchOutcome

    return LaunchOutcome(
        exit_code=3,
        signal=None,
        records_path=Path("/r"),
        last_status=None,
        stderr_tail="ullage-engine: target 'a': is full",
    )
