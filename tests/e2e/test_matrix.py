# SPDX-License-Identifier: Apache-2.0
"""IOzone's tests on real files with the real engine."""

from pathlib import Path

from tests.e2e.commands import command, run

from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.suites.matrix.suite import LABELS

KIB, MIB = 1 << 10, 1 << 20
SIZES = ["--file", "256K,1M", "--record", "4K,256K", "--max-repetitions", "3", "--time", "120s"]


def matrix(engine: Path, target: Path, result: Path, *words: str) -> list[str]:
    own = ["run", "matrix", "--target", f"here={target}", *SIZES, "--all", "--result", str(result)]
    return command(engine, *own, *words)


def summary_of(result: Path) -> Summary:
    return ResultFolder.open(result).read_summary()


def test_all_tests_are_measured_verified_and_nothing_is_left(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    code, out, err = run(matrix(engine, target, result))
    assert code == 0, err
    summary = summary_of(result)
    cells = {(row.params["test"], row.params["file_bytes"], row.params["block_bytes"]) for row in summary.rows}
    assert cells == {(test, f, r) for test in LABELS for f in (256 * KIB, MIB) for r in (4 * KIB, 256 * KIB)}
    assert len(cells) == len(summary.rows)
    assert min(len(row.repetitions) for row in summary.rows) >= 3
    phases = [phase for file in ResultFolder.open(result).read_records() for phase in file.phases]
    assert {phase.status for phase in phases} == {"ok"}
    assert all(phase.verified_bytes > 0 for phase in phases if phase.access == "read")
    assert "IOzone's tests" in out
    page = (result / "report.html").read_text()
    assert "matrix_heatmap-0" in page
    assert [path.name for path in target.iterdir()] == ["precious"]


def test_what_each_test_does_stands_in_the_records(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    assert run(matrix(engine, target, result, "--tests", "4,5,8", "--mix", "25%", "--file", "1M"))[0] == 0
    (file,) = ResultFolder.open(result).read_records()
    mixed = [phase for phase in file.phases if phase.phase == "mixed"]
    small = {case.case for case in file.cases if case.workload_parameters["transfer_bytes"] == 4 * KIB}
    assert {phase.operations for phase in mixed if phase.case in small} == {256}
    assert {case.workload_parameters["order"] for case in file.cases} == {"repeat", "strided", "sequential"}
    assert {phase.phase for phase in file.phases} == {"write", "rewrite", "read", "mixed"}
    tests = {row.params["test"] for row in summary_of(result).rows}
    assert tests == {"record rewrite", "stride read", "random mix"}
