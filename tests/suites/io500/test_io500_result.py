# SPDX-License-Identifier: Apache-2.0
"""Official results become results of ours: rows in SI units, scores worked out again, what does not count said."""

from pathlib import Path

import pytest

from ullage.cli.app import run as run_command
from ullage.errors import UserError
from ullage.importers import load_importers, read
from ullage.model.summary import Finding, Summary
from ullage.results.folder import ResultFolder
from ullage.suites.io500.importer import read_result
from ullage.suites.io500.official import OfficialRun, make_run
from ullage.suites.io500.official_folder import ini_text, summary_text
from ullage.suites.io500.phases import BY_NAME, GIB, phases_of
from ullage.suites.io500.score import score
from ullage.suites.io500.validity import Validity

VALUES = {phase.name: 2.5 * phase.factor for phase in phases_of("standard") if phase.scored_phase}


def _run(values: dict[str, float] | None = None, *, elapsed_s: float = 301.0) -> OfficialRun:
    kept = VALUES if values is None else values
    elapsed = dict.fromkeys(BY_NAME, elapsed_s)
    pairs = {"ior-hard-write": {"throughput-stonewall": "3.00"}, "find": {"found": "12"}}
    return make_run(
        kept, elapsed, {"standard": score(kept)}, Validity(), version="io500-isc26_v2", ranks=20, pairs=pairs
    )


def _of(summary: Summary, kind: str) -> list[Finding]:
    return [finding for finding in summary.findings if finding.kind == kind]


@pytest.mark.parametrize("text", [ini_text(_run()), summary_text(_run())])
def test_a_valid_run_has_rows_and_scores(text: str) -> None:
    summary = read_result(text, "r.txt")
    rows = {(str(row.params["phase"]), row.metric): row for row in summary.rows}
    assert rows["ior-hard-read", "bandwidth"].median == pytest.approx(2.5 * GIB)
    assert rows["find", "operation_rate"].median == pytest.approx(2500)
    assert rows["find", "phase_time"].median == 301.0
    assert [score.name for score in summary.scores] == ["IO500", "IO500 bandwidth", "IO500 metadata"]
    assert [score.value for score in summary.scores] == pytest.approx([2.5] * 3)
    assert all(score.valid for score in summary.scores)
    assert all((row.verdict, row.grade, row.low) == ("unknown(imported)", None, None) for row in summary.rows)
    assert _of(summary, "io500-void") == []
    assert summary.versions == {"io500": "io500-isc26_v2"}


def test_the_ini_also_has_ranks_and_the_rate_at_the_wall() -> None:
    rows = read_result(ini_text(_run()), "r.txt").rows
    assert {row.params["ranks"] for row in rows} == {20}
    (at_wall,) = [row for row in rows if row.metric == "stonewall_bandwidth"]
    assert (at_wall.params["phase"], at_wall.median) == ("ior-hard-write", 3 * GIB)


@pytest.mark.parametrize(("version", "wall", "kept"), [("io500-isc26_v2", "3.00", True), ("io500-sc20_v3", "3", False)])
def test_a_rate_at_the_wall_that_counts_ranks_twice_is_left_out(version: str, wall: str, kept: bool) -> None:
    """As phase_ior.c of the releases io500-isc20 and io500-sc20 prints it."""
    text = ini_text(_run()).replace("io500-isc26_v2", version).replace("= 3.00", f"= {wall}")
    summary = read_result(text, "r.txt")
    assert bool([row for row in summary.rows if row.metric == "stonewall_bandwidth"]) is kept
    assert bool(_of(summary, "io500-wall")) is not kept


def test_without_a_release_what_cannot_be_is_left_out() -> None:
    """More by the wall at 300 s than in the whole phase."""
    text = ini_text(_run()).replace("io500-isc26_v2", "my-build")
    assert [row.median for row in read_result(text, "r").rows if row.metric == "stonewall_bandwidth"] == []
    (said,) = _of(read_result(text, "r"), "io500-wall")
    assert said.numbers["phase"] == ["ior-hard-write"]
    fits = text.replace("= 3.00", "= 2.5")
    assert [row.median for row in read_result(fits, "r").rows if row.metric == "stonewall_bandwidth"] == [2.5 * GIB]


def test_random_phases_count_in_the_extended_score_of_their_releases() -> None:
    """GWDG's submission-582 of SC21 (IO500/submission-data), its bandwidths."""
    lines = [
        "IO500 version io500-sc21 (extended)",
        "[RESULT]       ior-easy-write        3.261078 GiB/s : time 616.367 seconds",
        "[RESULT]      ior-rnd4K-write        0.266235 GiB/s : time 1377.404 seconds",
        "[RESULT]     ior-rnd1MB-write        3.126215 GiB/s : time 1134.083 seconds",
        "[RESULT]       ior-hard-write        0.348750 GiB/s : time 1027.660 seconds",
        "[RESULT]       ior-rnd4K-read        0.814371 GiB/s : time 450.306 seconds",
        "[RESULT]      ior-rnd1MB-read        6.661937 GiB/s : time 532.189 seconds",
        "[RESULT]        ior-easy-read        8.852841 GiB/s : time 226.967 seconds",
        "[RESULT]        ior-hard-read        4.762372 GiB/s : time 75.272 seconds",
    ]
    summary = read_result("\n".join(lines), "s.txt")
    values = {score.name: score.value for score in summary.scores}
    assert values["IO500 bandwidth"] == pytest.approx(2.631452, abs=1e-6)
    assert values["IO500 extended bandwidth"] == pytest.approx(1.958556, abs=1e-6)
    rows = {str(row.params["phase"]): row.median for row in summary.rows if row.metric == "bandwidth"}
    assert rows["ior-rnd1MB-read"] == 6.661937 * GIB


def test_a_total_without_its_root_is_that_of_a_script_before_may_2018() -> None:
    """The [SCORE] line of CERN's submission-179."""
    text = summary_text(_run()).replace("TOTAL 2.500000", "TOTAL 6.250000")
    (said,) = _of(read_result(text, "s.txt"), "io500-recomputed")
    assert said.severity == "info"
    assert said.text.endswith("Its script, of before May 2018, printed the total without the root.")
    assert read_result(text, "s.txt").scores[0].value == pytest.approx(2.5)


def test_a_phase_printed_as_0_did_not_run_and_is_left_out_of_the_mean() -> None:
    without = {name: value for name, value in VALUES.items() if name != "find"}
    summary = read_result(summary_text(_run(without)), "s.txt")
    assert not any(row.params["phase"] == "find" for row in summary.rows)
    assert summary.scores[0].value == pytest.approx(2.5)
    assert summary.scores[0].reasons == ["find did not run: its value is printed as 0"]
    assert not summary.scores[0].valid
    (finding,) = _of(summary, "io500-void")
    assert finding.numbers["phase"] == "find"


def test_a_short_write_and_an_empty_find_are_void_even_where_nobody_marked_them() -> None:
    text = ini_text(_run(elapsed_s=100.0)).replace("found           = 12", "found           = 0")
    summary = read_result(text, "r.txt")
    void = {finding.numbers["phase"] for finding in _of(summary, "io500-void")}
    assert void == {"ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write", "find"}
    flagged = {row.params["phase"] for row in summary.rows if "INVALID:void-phase" in row.flag_codes}
    assert flagged == void


def test_marks_of_the_tool_void_what_they_stand_at() -> None:
    text = summary_text(_run()).replace("TOTAL 2.500000", "TOTAL 2.500000 [INVALID]")
    lines = [f"{line} [INVALID]" if " ior-hard-read " in line else line for line in text.splitlines()]
    summary = read_result("\n".join(lines), "s.txt")
    assert [finding.numbers["phase"] for finding in _of(summary, "io500-void")] == ["ior-hard-read"]
    assert summary.scores[0].reasons == [
        "ior-hard-read is marked INVALID",
        "the tool that wrote it marks the run INVALID",
    ]


def test_a_printed_score_that_does_not_follow_from_its_phases_is_found() -> None:
    (good,) = _of(read_result(summary_text(_run()), "s.txt"), "io500-recomputed")
    assert (good.severity, good.numbers["consistent"]) == ("info", True)
    text = summary_text(_run()).replace("TOTAL 2.500000", "TOTAL 2.600000")
    (bad,) = _of(read_result(text, "s.txt"), "io500-recomputed")
    assert (bad.severity, bad.numbers["consistent"]) == ("warning", False)
    assert "does NOT follow" in bad.text
    assert "total 2.6 printed, 2.5 from the phases (rounding allows 2.500 to 2.500)" in bad.text


def test_a_log_of_two_runs_has_two_targets_and_says_what_moved_the_total() -> None:
    better = VALUES | {"ior-hard-write": 4.0 * GIB}
    log = f"$ mpiexec io500\n{summary_text(_run())}\nonce more\n{summary_text(_run(better))}"
    summary = read_result(log, "log.txt")
    assert list(dict.fromkeys(row.target for row in summary.rows)) == ["run 1", "run 2"]
    (change,) = _of(summary, "io500-change")
    assert change.text == "From run 1 to run 2 IO500 changes by 1.06 x: 1.06 x from ior-hard-write (its rate: 1.60 x)."


def _folder(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / f"{name}.txt").write_text(text)
    return path


def test_a_result_folder_is_imported_by_the_form_with_more_digits(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "2026.01.01", result=ini_text(_run()), result_summary=summary_text(_run()), ior="x")
    assert run_command(["import", str(folder), "--result", str(tmp_path / "r")]) == 0
    result = ResultFolder.open(tmp_path / "r")
    assert (result.path / "imported" / "result.txt").read_text() == ini_text(_run())
    summary = result.read_summary()
    assert summary.scores[0].value == pytest.approx(2.5)
    assert any(row.params.get("ranks") == 20 for row in summary.rows)
    (folder / "result.txt").unlink()
    assert not any("ranks" in row.params for row in read(folder).rows)


def test_a_folder_without_a_result_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _folder(tmp_path / "empty", other="x")
    assert run_command(["import", str(folder), "--result", str(tmp_path / "r")]) == 2
    error = capsys.readouterr().err
    assert "has no format that can be imported" in error
    assert "it begins with 'x'" in error
    assert not (tmp_path / "r").exists()


def test_forms_are_recognised_by_their_content_wherever_the_lines_stand(tmp_path: Path) -> None:
    log = tmp_path / "slurm.out"
    log.write_text("noise\n" * 5000 + summary_text(_run()))
    assert read(log).scores[0].value == pytest.approx(2.5)
    importers = load_importers()
    assert not importers["io500_result"].recognises("target,access,ranks,block_bytes,bandwidth_mb_per_s\n")
    assert not importers["table"].recognises(summary_text(_run()))


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "result_summary.txt"
    path.write_text(summary_text(_run()) + "[RESULT] find fast kIOPS\n")
    with pytest.raises(UserError, match=r"result_summary\.txt:\d+: is not a result line"):
        read(path)
