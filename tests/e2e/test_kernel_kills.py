# SPDX-License-Identifier: Apache-2.0
"""Kernels of programs: a rank that is killed in mid-run, and folders that differ where ranks share files."""

from pathlib import Path

import pytest
from tests.e2e.commands import command, run
from tests.e2e.test_fault_resume import killed_and_resumed

from ullage.cleaning import find_run_folders

PARTICLES = ["--particles", "20000", "--steps", "2", "--compute", "50ms", "--layout", "CC,IC", "--format", "raw"]


@pytest.mark.fault("SIGKILL of a rank of a kernel, then resume", "each repetition once; nothing of ours is left")
@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ("vpic", PARTICLES),
        ("bdcats", PARTICLES),
        ("overlap", ["--size", "64K", "--depth", "1,4", "--bytes", "1M", "--rounds", "2", "--backend", "posix"]),
    ],
)
def test_a_killed_run_goes_on(engine: Path, tmp_path: Path, target: Path, suite: str, words: list[str]) -> None:
    result = tmp_path / "result"
    asked = ["run", suite, "--target", f"here={target}", "--ranks", "2", *words, "--time", "90s"]
    asked += ["--min-repetitions", "3", "--max-repetitions", "3"]
    killed_and_resumed(engine, target, asked, result)


@pytest.mark.fault("folders that differ between ranks that share files", "exit 3 and one line; nothing of ours is left")
@pytest.mark.parametrize(
    "words",
    [
        ["vpic", *PARTICLES],
        ["tile", "--element", "1"],
        ["flash", "--format", "raw"],
        ["pio", "--pattern", "segmented"],
        ["spio", "--operation", "write,neighbour", "--space", "64M"],
        ["sar", "--scale", "0.1"],
    ],
    ids=lambda words: words[0],
)
def test_folders_that_differ_are_refused_where_ranks_share_files(
    engine: Path, tmp_path: Path, words: list[str]
) -> None:
    for rank in range(2):
        (tmp_path / "here" / str(rank)).mkdir(parents=True)
    asked = ["--target", f"here={tmp_path}/here/{{rank}}", "--ranks", "2", "--time", "20s"]
    code, _, err = run(command(engine, "run", *words, *asked, "--result", str(tmp_path / "result")))
    assert code in (3, 4), err
    assert "one folder for all ranks" in err or "must be own" in err or code == 4
    assert find_run_folders(tmp_path / "here" / "0") == []
    assert find_run_folders(tmp_path / "here" / "1") == []
