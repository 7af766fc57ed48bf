# SPDX-License-Identifier: Apache-2.0
"""Suite ``pio`` on real files with the real engine: every pattern and operation, faults, and mistakes."""

from pathlib import Path

import pytest
from tests.e2e.commands import command, run

from ullage.engine import describe
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.suites.pio.options import OPERATIONS, PATTERNS

SMALL = ["--volume", "96K", "--request", "1K", "--record", "64", "--variables", "4", "--verify", "full"]
ONCE = ["--time", "120s", "--max-repetitions", "1"]


def has_hdf5(engine: Path) -> bool:
    return any(one.name == "hdf5" and one.available for one in describe(engine).backends)


def rates(result: Path) -> list[Row]:
    return [row for row in ResultFolder.open(result).read_summary().rows if row.metric == "bandwidth"]


def operations_of(pattern: str) -> list[str]:
    return ["read", "reread"] if pattern == "sequential-shared" else list(OPERATIONS)


@pytest.mark.each_mpi
def test_every_pattern_and_operation_is_measured_and_nothing_is_left(
    engine: Path, target: Path, tmp_path: Path
) -> None:
    result = tmp_path / "result"
    words = ["run", "pio", "--target", f"here={target}", "--ranks", "3", *SMALL, *ONCE]
    code, out, err = run(command(engine, *words, "--hint", "no_such_hint=7", "--all", "--result", str(result)))
    assert code == 0, err
    rows = rates(result)
    measured = {
        (row.params["pattern"], row.params["calls"], row.params["base_bytes"], row.params["access"]) for row in rows
    }
    assert measured == {
        (pattern, calls, base, operation)
        for pattern in PATTERNS
        for calls in ("independent", "collective")
        for base in (0, 8)
        for operation in operations_of(pattern)
        if not (pattern == "sequential-own" and calls == "collective")
    }
    for file in ResultFolder.open(result).read_records():
        for phase in file.phases:
            assert phase.status == "ok"
            assert phase.verified_bytes >= int(str(phase.facts["data_bytes"]))
            assert phase.bad_blocks == 0
    found = ResultFolder.open(result).read_summary().findings
    ignored = [one.numbers["key"] for one in found if one.kind == "pio-hints-ignored"]
    # Open MPI names every hint that a file was opened with, whether anything uses it or not.
    assert ignored == ([] if describe(engine).engine.mpi.family == "openmpi" else ["no_such_hint"])
    assert "Access patterns of parallel programs" in out
    assert [path.name for path in target.iterdir()] == ["precious"]
    times = [
        [row.median for row in ResultFolder.open(result).read_summary().rows if row.metric == f"{which}_rank_time"]
        for which in ("fastest", "mean", "slowest")
    ]
    assert len(times[0]) == len(rows)
    assert all(least <= mean <= most for least, mean, most in zip(*times, strict=True))


def test_hdf5_measures_every_pattern_by_both_kinds_of_calls(engine: Path, target: Path, tmp_path: Path) -> None:
    if not has_hdf5(engine):
        pytest.skip("parallel HDF5 of this MPI is missing")
    result = tmp_path / "result"
    words = ["run", "pio", "--target", f"here={target}", "--ranks", "2", *SMALL, *ONCE, "--base", "8"]
    told = ["--backend", "hdf5", "--param", "hdf5.chunk_bytes=10K", "--operation", "read,rewrite,read-modify-write"]
    code, _, err = run(command(engine, *words, *told, "--result", str(result)))
    assert code == 0, err
    found = {(row.params["pattern"], row.params["calls"]) for row in rates(result)}
    assert len(found) == 2 * len(PATTERNS) - 1
    phases = [phase for file in ResultFolder.open(result).read_records() for phase in file.phases]
    assert all(phase.verified_bytes >= int(str(phase.facts["data_bytes"])) for phase in phases)
    assert {phase.hints_granted["hdf5.layout"] for phase in phases} == {"chunked"}
    assert [path.name for path in target.iterdir()] == ["precious"]


def test_a_file_of_directives(engine: Path, target: Path, tmp_path: Path) -> None:
    directives, result = tmp_path / "d.toml", tmp_path / "result"
    directives.write_text(
        '[[pattern]]\nname = "nested-strided"\nlabel = "deep"\nlevels = 3\ninner = 2\nrequest = "512"\nbase = 8\n'
        '[[pattern]]\nname = "mesh"\nrecord = 8\nunsorted = true\noperation = "read"\nrequest = 64\nbase = 0\n'
    )
    words = ["run", "pio", "--target", f"here={target}", "--ranks", "2", "--volume", "64K", *ONCE]
    told = ["--directives", str(directives), "--operation", "write,rewrite", "--verify", "full"]
    code, _, err = run(command(engine, *words, *told, "--result", str(result)))
    assert code == 0, err
    assert {(row.params["pattern"], row.params["access"], row.params["calls"]) for row in rates(result)} == {
        ("deep", "write", "independent"),
        ("deep", "rewrite", "independent"),
        ("deep", "write", "collective"),
        ("deep", "rewrite", "collective"),
        ("mesh", "read", "independent"),
    }
