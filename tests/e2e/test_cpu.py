# SPDX-License-Identifier: Apache-2.0
"""Cpu runs as people make them, with the real engine and its kernels. No speed is asserted."""

from pathlib import Path

import pytest
from tests.e2e.commands import command, run, run_here

from ullage.model.record import PhaseRecord
from ullage.model.summary import Row, Summary
from ullage.results.folder import ResultFolder


def cpu(engine: Path, result: Path, *words: str) -> list[str]:
    return command(engine, "run", "cpu", "--no-peer", "--result", str(result), *words)


def summary_of(result: Path) -> Summary:
    return ResultFolder.open(result).read_summary()


def rates(summary: Summary) -> list[Row]:
    return [row for row in summary.rows if row.metric == "compute_rate"]


def test_kernels_of_a_type_have_rate_clock_and_ceiling(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    code, out, err = run(
        cpu(engine, result, "--type", "SP", "--isa", "scalar,portable", "--threads", "1", "--quick", "--all")
    )
    assert code == 0, err
    summary = summary_of(result)
    kernels = rates(summary)
    assert kernels
    assert {row.params["type"] for row in kernels} <= {"fp32", "int32"}
    assert all(set(row.params) == {"isa", "type", "operation", "threads"} for row in kernels)
    assert all(row.median > 0 and row.repetitions for row in kernels)
    assert not any(flag.startswith(("idle", "INVALID:littles")) for row in summary.rows for flag in row.flag_codes)
    assert "the fastest kernel of each type" in out
    assert out.splitlines()[-1] == str(result)
    page = (result / "report.html").read_text()
    assert "The cores" in page
    assert "Roofline" in page


def test_a_product_and_a_solve_are_right_and_name_their_library(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ("--type", "DP", "--isa", "scalar", "--threads", "1", "--size", "256", "--repetitions", "2", "--quick")
    code, _, err = run(cpu(engine, result, *words))
    summary = summary_of(result)
    if any(event.kind == "no-blas" for event in summary.events):
        pytest.skip("no BLAS on this machine")
    assert code == 0, err
    solves = [row for row in rates(summary) if row.params["operation"] == "solve"]
    assert solves
    assert {row.params["n"] for row in solves} == {256}
    residuals = [
        phase.gauges["residual"].most
        for file in ResultFolder.open(result).read_records()
        for phase in file.records
        if isinstance(phase, PhaseRecord) and phase.phase == "solve"
    ]
    assert residuals
    assert max(residuals) < 16


def test_a_plan_names_every_case_and_starts_nothing(engine: Path) -> None:
    code, out, err = run_here(
        "plan", "cpu", "--type", "fp64", "--isa", "scalar", "--threads", "1", "--engine", str(engine)
    )
    assert code == 0, err
    assert "scalar/fp64/fma" in out
