# SPDX-License-Identifier: Apache-2.0
"""From the records of fixed work to rows, sentences and tables."""

import json
from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE, ENGINE, with_workloads
from support.suite_words import request_of
from ullage.analysis.metrics import metric_named
from ullage.errors import UserError
from ullage.model.record import Contamination, Done, Gauge, PhaseRecord
from ullage.report.data import FinishedResult, load
from ullage.results.folder import ResultFolder
from ullage.results.records import parse_record
from ullage.runs.inputs import EngineContext
from ullage.runs.summary import build_summary
from ullage.suites.noise.report import tables
from ullage.suites.noise.suite import NoiseOptions, advice_on, findings_of, prepare_noise

GAUGES = {
    "noise_share": 0.008,
    "worst_noise_share": 0.012,
    "turbo_share": 0.12,
    "detours": 840.0,
    "detour_s": 0.006,
    "watched_s": 0.6,
    "longest_detour_s": 43e-6,
    "median_ns": 1e5,
    "longest_ns": 2e5,
    "clock_hz": 3e9,
}


def phase(case: str = "c2", repetition: int = 0, **changes: float) -> PhaseRecord:
    done = Done(elapsed_ns=10**9, bytes=0, operations=3000)
    return PhaseRecord(
        case=case,
        repetition=repetition,
        phase="fixed-work",
        access="none",
        status="ok",
        grade="A",
        ranks=1,
        start_ns=0,
        elapsed_ns=10**9,
        bytes=0,
        operations=3000,
        stages={},
        first_done=done,
        last_done=done,
        gauges={name: Gauge(sum=v, least=v, most=v) for name, v in {**GAUGES, **changes}.items()},
        contamination=Contamination(foreign_cpu_ppm=2000, steal_ppm=500, involuntary_switches=3),
    )


def contaminated(**changes: int) -> PhaseRecord:
    clean = {"foreign_cpu_ppm": 0, "steal_ppm": 0, "involuntary_switches": 0}
    return phase().model_copy(update={"contamination": Contamination.model_validate({**clean, **changes})})


def write(folder: Path, **changes: float) -> ResultFolder:
    """A result of two cases, with 1 and 2 threads, each 6 times."""
    request = request_of("noise", NoiseOptions, threads="1")
    result = ResultFolder.create(folder, request)
    run = {
        "kind": "run",
        "schema": "ullage.record/1",
        "run_id": "r1",
        "suite": "noise",
        "started": "now",
        "origin_ns": 0,
        "engine": ENGINE,
        "layout": {"ranks": 1, "nodes": 1},
        "clock": {
            "source": "x",
            "read_cost_ns": 30,
            "largest_offset_ns": 0,
            "largest_offset_rank": 0,
            "residual_ns": 0,
        },
        "pinning": {
            "pinned_ranks": 1,
            "unpinned_ranks": 0,
            "cores_available": 2,
            "most_ranks_on_a_node": 1,
            "oversubscribed": False,
        },
    }
    lines = [json.dumps(run)]
    for repetition in range(6):
        for threads in (2, 1):
            case = f"c{threads}"
            lines.append(phase(case, repetition, **changes).model_dump_json())
            ending = {"kind": "case", "case": case, "repetition": repetition, "status": "ok", "elapsed_ns": 10**9}
            what = {"target": "cpu", "backend": "null", "workload": "fixed-work"}
            lines.append(json.dumps({**ending, **what, "workload_parameters": {"threads": threads}}))
    assert all(hasattr(parse_record(line.encode()), "kind") for line in lines)
    result.records_path(1).parent.mkdir()
    result.records_path(1).write_text("\n".join(lines) + "\n")
    return result


def test_shares_are_of_the_time_that_was_worked_or_watched() -> None:
    found = {
        name: metric_named(name).sample(phase())
        for name in ("noise_share", "worst_noise_share", "detour_share", "longest_detour")
    }
    assert found == {
        "noise_share": 0.008,
        "worst_noise_share": 0.012,
        "detour_share": pytest.approx(0.01),
        "longest_detour": 43e-6,
    }
    assert metric_named("detour_share").sample(phase(watched_s=0.0)) is None
    assert metric_named("noise_share").sample(phase().model_copy(update={"gauges": {}})) is None


def test_rows_name_their_threads(tmp_path: Path) -> None:
    summary = build_summary(write(tmp_path / "r"))
    assert {(row.metric, row.params["threads"]) for row in summary.rows} == {
        (metric, threads)
        for metric in ("noise_share", "worst_noise_share", "turbo_share", "detour_share", "longest_detour")
        for threads in (1, 2)
    }
    assert all(row.low is not None and len(row.repetitions) == 6 for row in summary.rows)
    assert {row.grade for row in summary.rows} == {"A"}


def test_the_section_shows_fixed_work_and_counters(tmp_path: Path) -> None:
    result = write(tmp_path / "r")
    content = tables(load(FinishedResult(result.path), build_summary(result)))
    assert content is not None
    fixed, counters = content.grids
    cells = [[cell.text for cell in row] for row in fixed.rows]
    assert [row[0] for row in cells] == ["1", "2"]
    assert cells[1][1:] == ["0.80 %", "1.20 %", "12.00 %", "1.00 %", "1,400", "43.0 us", "100 us", "200 us", "3.00 GHz"]
    (line,) = [[cell.text for cell in row] for row in counters.rows]
    assert line == ["noise", "12", "0.2 %", "0.2 %", "0.1 %", "–", "–", "–", "10", "0", "0"]  # noqa: RUF001


def test_little_noise_is_only_said_and_the_clock_is_told_apart(tmp_path: Path) -> None:
    findings = {finding.kind: finding for finding in build_summary(write(tmp_path / "r")).findings}
    assert findings["noise"].severity == "info"
    assert findings["noise"].text == (
        "Other work takes 0.80 % of the threads' time. The worst of 2 threads loses 1.20 %. The longest interruption "
        "took 43.0 us."
    )
    assert "11.2 % longer" in findings["turbo"].text


def test_more_noise_comes_with_advice(tmp_path: Path) -> None:
    some = {finding.kind: finding for finding in build_summary(write(tmp_path / "a", noise_share=0.03)).findings}
    much = {finding.kind: finding for finding in build_summary(write(tmp_path / "b", noise_share=0.3)).findings}
    assert (some["noise"].severity, much["noise"].severity) == ("advice", "warning")
    assert "a core without a rank" in some["noise"].text
    assert findings_of([], []) == []


def test_advice_names_who_took_it() -> None:
    assert "hypervisor" in advice_on([contaminated(steal_ppm=30_000)])
    assert "Other programs" in advice_on([contaminated(foreign_cpu_ppm=30_000)])
    assert "short-lived programs" in advice_on([contaminated(pressure_cpu_ppm=30_000)])
    assert "Other programs" in advice_on([contaminated(foreign_cpu_ppm=10_000, pressure_cpu_ppm=30_000)])
    # The larger of the two.
    assert "Other programs" in advice_on([contaminated(steal_ppm=30_000, foreign_cpu_ppm=900_000)])
    assert "No program can be seen" in advice_on([contaminated()])
    assert "No program can be seen" in advice_on([])


def test_an_engine_without_fixed_work_is_refused_and_one_with_it_is_planned(tmp_path: Path) -> None:
    request = request_of("noise", NoiseOptions, threads="1", quick=True)
    with pytest.raises(UserError, match="fixed-work"):
        prepare_noise(request, EngineContext(Path("/engine"), DESCRIBE))
    description = with_workloads("fixed-work")
    prepared = prepare_noise(request, EngineContext(Path("/engine"), description))
    (plan,) = prepared.plans(ResultFolder(tmp_path))
    assert [case.workload.name for case in plan.cases] == ["fixed-work"]
    assert prepared.cases[0].seconds == pytest.approx(0.8)
    assert prepared.explain().rows[0][:2] == ["fixed-work", "1"]
