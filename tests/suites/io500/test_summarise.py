# SPDX-License-Identifier: Apache-2.0
"""From records to rows, scores, findings and the official texts: by hand-checked arithmetic."""

import itertools
import math

import pytest

from suites.io500.conftest import World
from ullage.model.plan import Case, Plan
from ullage.suites.io500.official import read_lines, read_result_ini
from ullage.suites.io500.phases import scored_phases

GIB = 1 << 30


def test_a_row_for_each_phase_in_official_order_with_its_value_first(world: World) -> None:
    world.run(world.prepare(stonewall="10"))
    rows = world.summary().rows
    first: dict[object, str] = {}
    for row in rows:
        first.setdefault(row.params["phase"], row.metric)
    expected = {phase.name: phase.metric for phase in scored_phases("standard")}
    assert list(first.items()) == [*expected.items(), ("ior-rnd4K-easy-read", "bandwidth")]
    by_name = {(row.params["phase"], row.metric): row for row in rows}
    assert by_name["ior-easy-write", "bandwidth"].median == pytest.approx(1e9)
    assert by_name["mdtest-easy-write", "operation_rate"].median == pytest.approx(1e4)
    # Ten seconds to the wall, in which half of eleven seconds' work was done.
    assert by_name["ior-easy-write", "stonewall_bandwidth"].median == pytest.approx(0.55e9)
    assert by_name["mdtest-hard-write", "stonewall_operation_rate"].median == pytest.approx(0.55e4)
    assert ("ior-easy-read", "stonewall_bandwidth") not in by_name


def test_the_score_is_the_official_formula(world: World) -> None:
    world.run(world.prepare())
    values = {row.params["phase"]: row.median for row in reversed(world.summary().rows) if row.metric in (
        "bandwidth", "operation_rate")}  # fmt: skip
    bandwidth = math.prod(values[p.name] / GIB for p in scored_phases("standard") if p.kind == "BW") ** (1 / 4)
    metadata = math.prod(values[p.name] / 1e3 for p in scored_phases("standard") if p.kind == "MD") ** (1 / 8)
    scores = {score.name: score for score in world.summary().scores}
    assert scores["IO500 bandwidth"].value == pytest.approx(bandwidth)
    assert scores["IO500 metadata"].value == pytest.approx(metadata)
    assert scores["IO500"].value == pytest.approx(math.sqrt(bandwidth * metadata))
    assert scores["IO500"].valid
    assert scores["IO500"].reasons == []


def test_the_extended_mode_has_both_scores(world: World) -> None:
    world.run(world.prepare(mode="extended"))
    assert {"IO500", "IO500 extended"} <= {score.name for score in world.summary().scores}


def test_a_quick_look_says_invalid_loudly(world: World) -> None:
    world.run(world.prepare(stonewall="1"))
    summary = world.summary()
    assert summary.findings[0].kind == "io500-invalid"
    assert "the stonewall of 1 s is below the 300 s of the rules" in summary.findings[0].text
    assert not any(score.valid for score in summary.scores)
    # It voids the score; the phases have lasted as long as was asked.
    assert not any(flag.startswith("INVALID") for row in summary.rows for flag in row.flag_codes)
    assert "[SCORE ]" in world.text("result_summary.txt")
    lines = world.text("result_summary.txt").splitlines()
    assert lines[-1].endswith("[INVALID]")
    writing = [line for line in lines if line.split()[1].endswith("-write")]
    assert [line.endswith("[INVALID]") for line in writing] == [True] * 4, "as below 300 s in the official tool"
    assert sum(line.endswith("[INVALID]") for line in lines) == 5


def test_a_phase_that_ran_out_of_work_is_void_with_its_reason(world: World) -> None:
    def spoil(plan: Plan, case: Case, record: dict[str, object]) -> None:
        del plan
        if case.dataset == "ior-hard" and record["phase"] == "write":
            record["elapsed_ns"] = 9 * 10**9
            record["stages"] = {}

    world.engine.spoil = spoil
    assert world.run(world.prepare())[0] == 0
    summary = world.summary()
    row = next(row for row in summary.rows if row.params["phase"] == "ior-hard-write")
    assert row.flag_codes[0] == "INVALID:void"
    assert "less than the stonewall of 300 s" in row.reason_of("INVALID:void")
    assert any(finding.kind == "io500-void" for finding in summary.findings)


def test_a_wear_out_that_was_cut_voids_its_phase(world: World) -> None:
    def spoil(plan: Plan, case: Case, record: dict[str, object]) -> None:
        del plan
        if case.dataset == "mdtest-easy" and record["phase"] == "create":
            record["stonewall"]["cut"] = True  # type: ignore[index]

    world.engine.spoil = spoil
    world.run(world.prepare())
    void = [finding for finding in world.summary().findings if finding.kind == "io500-void"]
    assert [finding.numbers["phase"] for finding in void] == ["mdtest-easy-write"]


def test_a_phase_that_was_not_run_says_why(world: World) -> None:
    world.run(world.prepare("[ior-hard]\nrun = FALSE\n"))
    reasons = world.summary().scores[0].reasons
    assert any("ior-hard-write did not run: " in reason and "config.ini says so" in reason for reason in reasons)


def test_an_interrupted_run_is_summarised_as_far_as_it_went(world: World) -> None:
    world.engine.interrupt_at = (1, 4)
    world.run(world.prepare())
    summary = world.summary()
    assert {row.params["phase"] for row in summary.rows} == {"ior-easy-write", "mdtest-easy-write", "ior-hard-write"}
    assert not summary.scores[0].valid


def test_a_rank_that_is_always_last_is_named(world: World) -> None:
    def spoil(plan: Plan, case: Case, record: dict[str, object]) -> None:
        del plan, case
        fast = {"rank": 0, "node": "n1", "elapsed_ns": 10, "bytes": 1}
        slow = {"rank": 1, "node": "n2", "elapsed_ns": 20, "bytes": 1}
        record["by_rank"] = {"fastest": fast, "slowest": [slow], "least_bytes": 1, "most_bytes": 1}

    world.engine.spoil = spoil
    world.run(world.prepare())
    (finding,) = [finding for finding in world.summary().findings if finding.kind == "slow-rank"]
    assert "Rank 1 on n2 was the slowest in 13 of 13 phases with unequal ranks." in finding.text


def test_a_rank_that_is_last_as_often_as_chance_has_it_is_not_named(world: World) -> None:
    """One of two equal ranks is the last of 8 or more of 13 phases in more than one run in two."""

    phases = itertools.count()

    def spoil(plan: Plan, case: Case, record: dict[str, object]) -> None:
        del plan, case
        turn = int(next(phases) % 5 < 3)
        fast = {"rank": 1 - turn, "node": "n1", "elapsed_ns": 10, "bytes": 1}
        slow = {"rank": turn, "node": "n1", "elapsed_ns": 20, "bytes": 1}
        record["by_rank"] = {"fastest": fast, "slowest": [slow], "least_bytes": 1, "most_bytes": 1}

    world.engine.spoil = spoil
    world.run(world.prepare())
    assert [finding for finding in world.summary().findings if finding.kind == "slow-rank"] == []


def test_the_official_texts_read_back(world: World) -> None:
    world.run(world.prepare())
    (lines,) = read_lines(world.text("result_summary.txt"), "result_summary.txt")
    ini = read_result_ini(world.text("result.txt"), "result.txt")
    for run in (lines, ini):
        values = {phase.name: phase.value.value for phase in run.phases if phase.value is not None}
        assert values["ior-easy-write"] == pytest.approx(1e9 / GIB, rel=1e-5)
        assert values["mdtest-easy-write"] == pytest.approx(10.0)
    assert ini.phase("find").pairs["found"]  # type: ignore[union-attr]
    assert "throughput-stonewall = 0.512" in world.text("result.txt")


def test_a_summary_can_be_made_again(world: World) -> None:
    world.run(world.prepare(repeat=2))
    assert world.summary() == world.summary()
