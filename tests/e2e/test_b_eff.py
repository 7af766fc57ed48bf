# SPDX-License-Identifier: Apache-2.0
"""A tiny b_eff with the real engine: every pattern and size, the value by the formula, the page, going on."""

import json
import math
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any

import pytest
from tests.e2e.commands import command, run, run_here

from ullage.engine import describe

TINY = ("--lmax", "4K", "--budget", "1ms", "--random-rings", "3", "--repetitions", "2")


@pytest.fixture
def message_engine(engine: Path) -> Path:
    """The engine, where it has the workload."""
    if "b-eff" not in {thing.name for thing in describe(engine).workloads}:
        pytest.skip("this engine was built without b-eff")
    return engine


def counted_phases(result: Path) -> list[dict[str, Any]]:
    """Take the first two repetitions."""
    lines = (result / "records" / "001.ndjson").read_text().splitlines()
    phases = [record for record in map(json.loads, lines) if record["kind"] == "phase"]
    order = sorted({phase["repetition"] for phase in phases})
    return [phase for phase in phases if phase["repetition"] in order[:2]]


def test_the_value_follows_from_the_records_by_the_formula(message_engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = command(
        message_engine, "run", "b_eff", "--ranks", "2", "--faithful", *TINY, "--all", "--result", str(result)
    )
    code, out, err = run(words)
    assert code == 0, err
    summary = json.loads((result / "summary.json").read_text())
    scores = {score["name"]: score for score in summary["scores"]}
    phases = counted_phases(result)
    assert len(phases) == 21 * 2
    best: dict[str, dict[str, float]] = {}
    for phase in phases:
        size = phase["gauges"]["message_bytes"]["most"]
        for name, gauge in phase["gauges"].items():
            if name.startswith("t/"):
                _, pattern, method = name.removesuffix("_s").split("/")
                loops = phase["gauges"].get(f"loops/{pattern}/{method}") or phase["gauges"][f"loops/{method}"]
                rate = size * phase["counters"][f"messages/{pattern}"] * loops["most"] / gauge["most"]
                of_pattern = best.setdefault(pattern, {})
                of_pattern[phase["phase"]] = max(rate, of_pattern.get(phase["phase"], 0.0))
    groups = [[fmean(best[name].values()) for name in best if name.startswith(kind)] for kind in ("ring-", "random-")]
    assert [len(group) for group in groups] == [6, 3]
    assert all(len(sizes) == 21 for sizes in best.values())
    value = math.sqrt(geometric_mean(groups[0]) * geometric_mean(groups[1]))
    assert scores["b_eff"]["value"] == pytest.approx(value / 1e6)
    assert scores["b_eff per process"]["value"] == pytest.approx(value / 2e6)
    # In a ring of two both neighbours are the same process, which gets one message.
    assert {phases[0]["counters"][f"messages/ring-{number}"] for number in range(6)} == {2}
    assert "NOT VALID" in out
    assert not scores["b_eff"]["valid"]
    assert any("3 of 30 patterns of random rings" in reason for reason in scores["b_eff"]["reasons"])
    page = (result / "report.html").read_text()
    assert len(page) < 2 << 20
    assert "rings against random rings" in page
    for defect in range(1, 8):
        assert f"D{defect}: " in page
    launches = len(list((result / "records").iterdir()))
    code, _, err = run_here("resume", str(result), "--engine", str(message_engine))
    assert code == 0, err
    assert len(list((result / "records").iterdir())) == launches
