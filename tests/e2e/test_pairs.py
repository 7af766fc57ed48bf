# SPDX-License-Identifier: Apache-2.0
"""Pairs end to end: on this node, and between hosts of which one is behind a slow link."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, command, run, run_here
from tests.places.hosts import PAYLOAD_SHARE, hosts_up

from ullage.analysis.ceilings.messages import COPY, LINE, WORST_LINE
from ullage.engine import describe
from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.summary import Finding
from ullage.results.folder import ResultFolder
from ullage.results.rows import join
from ullage.suites.pairs.effects import read_matrices
from ullage.suites.pairs.summarise import matrix_findings

LINK_RATE = 200e6 / 8
TINY = ("--ranks", "3", "--sizes", "8,64K", "--quick", "--repetitions", "1")


def test_a_tiny_run_leaves_matrices_patterns_and_a_page(engine: Path, tmp_path: Path) -> None:
    result, pattern = tmp_path / "result", tmp_path / "mine"
    pattern.write_text("0 1\n1 2 2\n2 0\n")
    words = ["run", "pairs", *TINY, "--pattern", str(pattern), "--all", "--result", str(result)]
    code, out, err = run(command(engine, *words))
    assert code == 0, err
    assert "Pairs" in out
    rows = json.loads((result / "summary.json").read_text())["rows"]
    assert {row["params"]["pattern"] for row in rows} == {"pairs", "best-bisection", "worst-bisection", "sparse"}
    assert {row["metric"] for row in rows} >= {"pair_latency", "pair_bandwidth", "exchange_bandwidth"}
    assert all(row["median"] > 0 for row in rows)
    assert "Every pair" in (result / "report.html").read_text()


def test_ranks_with_a_core_each_show_what_bounds_them(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    code, _, err = run(command(engine, "run", "pairs", "--ranks", "2", "--quick", "--result", str(result)))
    assert code == 0, err
    rows = ResultFolder.open(result).read_summary().rows
    bounds = [row for row in rows if row.is_bound]
    crowded = any(row.has_flag(OVERSUBSCRIBED) for row in rows)
    assert {row.metric for row in bounds} == (set() if crowded else {COPY, LINE, WORST_LINE})
    assert all(row.median > 0 for row in bounds)
    # Only bounds of rounds in which nothing else was at work count.
    assert {row.ceiling.kind for row in rows if row.ceiling is not None} <= {"measured"}


def test_a_bad_pattern_is_one_line(engine: Path, tmp_path: Path) -> None:
    pattern = tmp_path / "bad"
    pattern.write_text("0 1\n1 7\n")
    code, out, err = run_here("plan", "pairs", "--ranks", "2", "--pattern", str(pattern), "--engine", str(engine))
    assert (code, out) == (2, "")
    assert err.splitlines() == [f"ullage: --pattern {pattern}: line 2: rank 7 of 2 ranks; a line is FROM TO [WEIGHT]"]


def test_a_plan_for_hosts_is_of_as_many_nodes(engine: Path) -> None:
    code, out, err = run_here("plan", "pairs", "--hosts", "a,b,c", "--json", "--engine", str(engine))
    assert code == 0, err
    (plan,) = json.loads(out)
    assert plan["layout"] == {**plan["layout"], "ranks": 3, "nodes": 3, "ranks_per_node": 1}


def findings_of(result: Path) -> list[Finding]:
    """What the matrices tell whoever else was at work; the summary concludes it where nobody was."""
    matrices = read_matrices(join(file.records for file in ResultFolder.open(result).read_records()))
    return [one for matrix in matrices for one in matrix_findings(matrix)]


def slow_ends(findings: Sequence[Finding]) -> list[tuple[object, bool]]:
    """The ends that are slow, and whether each both sends and receives at the rate of the link."""
    rate = pytest.approx(LINK_RATE * PAYLOAD_SHARE, rel=0.05)
    slow = [one.numbers for one in findings if one.kind == "slow-end"]
    return [(one["end"], all(one[way] == rate for way in ("sends", "receives"))) for one in slow]


@pytest.mark.undisturbed
def test_a_host_behind_a_slow_link_is_found_and_its_rate_is_right(engine: Path, tmp_path: Path) -> None:
    """Three runs may try: where a rank stands still in one, the link seems to be slower, or another one to be slow."""
    family = describe(engine).engine.mpi.family
    with hosts_up(tmp_path / "hosts", 4, "2:200mbit") as place:
        words = ["--hosts", ",".join(place.names), "--sizes", "16K", "--one-at-a-time", "--quick"]
        result, findings = tmp_path, list[Finding]()
        for turn in range(3):
            result = tmp_path / f"result-{turn}"
            run_there = command(engine, "run", "pairs", *words, "--result", str(result))
            done = place.run("h0", run_there, family, TIMEOUT_S)
            assert done.returncode == 0, done.stderr
            findings = findings_of(result)
            if slow_ends(findings) == [("h2", True)]:
                break
    assert slow_ends(findings) == [("h2", True)], findings
    named = [one.text for one in findings if one.kind == "slow-link" and "h2" in one.text]
    assert named == [], "its links are explained by it"
    (slow,) = [one for one in findings if one.kind == "slow-end"]
    said = {one["kind"]: one["text"] for one in json.loads((result / "summary.json").read_text())["findings"]}
    assert said.get("slow-end") == slow.text or "contamination" in said
