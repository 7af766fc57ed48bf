# SPDX-License-Identifier: Apache-2.0
"""Suite ``apps`` on real files with the real engine."""

from pathlib import Path

from tests.e2e.commands import command, run

from ullage.results.folder import ResultFolder
from ullage.suites.apps.classes import rates_of
from ullage.suites.apps.options import SMALL


def test_every_kernel_is_measured_and_shown_on_one_page(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "apps", "--target", f"here={target}", "--time", "40s", "--ceiling", "here=1TB/s"]
    code, out, err = run(command(engine, *words, "--result", str(result)))
    assert code == 0, err
    assert len(out.splitlines()) <= 45
    summary = ResultFolder.open(result).read_summary()
    assert {part.suite: part.status for part in summary.parts} == dict.fromkeys(SMALL, "complete")
    rates = rates_of(summary.rows, SMALL)
    assert {row.suite for row in rates} == set(SMALL) - {"overlap"}, "which has shares, and no rate of a pattern"
    assert all(row.share is not None for row in rates if row.suite == "pio")
    assert "Classes of access patterns" in (result / "report.html").read_text()
    assert not list(target.glob("ullage-*"))


def test_kernels_that_cannot_run_are_named_and_the_others_run(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = [
        "run",
        "apps",
        "--target",
        "m=memory:",
        "--without",
        ",".join(SMALL.keys() - {"spio", "tile"}),
        "--time",
        "20s",
    ]
    code, out, err = run(command(engine, *words, "--result", str(result)))
    # The code of the part that was refused.
    assert code == 2, (out, err)
    assert "tile (not available)" in out
    found = {part.suite: part for part in ResultFolder.open(result).read_summary().parts}
    assert found["spio"].status == "complete"
    assert found["tile"].status == "not available"
    assert "has no views of files" in found["tile"].reason
