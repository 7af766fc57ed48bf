# SPDX-License-Identifier: Apache-2.0
"""Tiny runs over collective operations and of congestion, end to end. No number is held against another."""

import json
from pathlib import Path

from tests.e2e.commands import command, run

TINY = ("--operations", "barrier,allreduce,alltoallv", "--sizes", "8", "--repetitions", "1", "--time", "120s")


def test_collectives_of_two_ranks_have_times_overlap_and_a_report(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ("run", "collectives", "--ranks", "2", *TINY, "--quick", "--all", "--result", str(result))
    code, out, err = run(command(engine, *words))
    assert code == 0, err
    assert "Collective operations" in out
    rows = json.loads((result / "summary.json").read_text())["rows"]
    times = {row["params"]["operation"]: row["median"] for row in rows if row["metric"] == "collective_latency"}
    assert set(times) == {"barrier", "allreduce", "alltoallv"}
    assert all(0 < seconds < 10 for seconds in times.values())
    overlap = [row for row in rows if row["metric"] == "overlap"]
    assert {row["params"]["tests"] for row in overlap} == {0, 8}
    assert all(0 <= row["median"] <= 1 for row in overlap)
    assert {row["metric"] for row in rows} >= {"one_sided_latency", "one_sided_bandwidth", "link_bandwidth"}
    page = (result / "report.html").read_text()
    for title in ("time of a call, 2 ranks", "during computation", "one-sided, one at a time"):
        assert title in page


def test_congestion_of_four_ranks_has_impacts_of_both_loads(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ("--ranks", "4", "--test", "10ms", "--rings", "3", "--repetitions", "1", "--quick", "--time", "120s")
    code, out, err = run(command(engine, "run", "congestion", *words, "--all", "--result", str(result)))
    assert code == 0, err
    assert "congested / isolated" in out
    rows = json.loads((result / "summary.json").read_text())["rows"]
    impacts = [row for row in rows if row["metric"] in ("congestion_impact", "congestion_impact_p99")]
    assert {(row["params"]["load"], row["params"]["test"]) for row in impacts} == {
        (load, test) for load in ("incast", "alltoall") for test in ("latency", "bandwidth", "allreduce")
    }
    assert all(row["median"] > 0 for row in impacts)
