# SPDX-License-Identifier: Apache-2.0
"""Particle files on real storage with the real engine: all layouts written, and read as an analysis reads them."""

import secrets
from pathlib import Path

import pytest
from tests.e2e.commands import command, run
from tests.e2e.launching import Document, plan, untouched
from tests.e2e.launching import run as run_engine

from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder

ONCE = ["--min-repetitions", "1", "--max-repetitions", "1", "--all", "--time", "100s"]


def rows_of(result: Path, metric: str) -> list[Row]:
    return [row for row in ResultFolder.open(result).read_summary().rows if row.metric == metric]


def formats(engine: Path) -> str:
    has_hdf5 = any(one.name == "hdf5" and one.available for one in describe(engine).backends)
    return "raw,hdf5" if has_hdf5 else "raw"


def test_all_layouts_are_written_and_verified(engine: Path, target: Path, tmp_path: Path) -> None:
    result, forms = tmp_path / "result", formats(engine)
    sizes = ["--ranks", "2", "--particles", "2000", "--steps", "2", "--compute", "5ms", "--format", forms]
    code, out, err = run(
        command(engine, "run", "vpic", "--target", f"here={target}", *sizes, *ONCE, "--result", str(result))
    )
    assert code == 0, err
    assert {
        (row.params["layout"], row.params["format"], row.params["transfers"])
        for row in rows_of(result, "observed_bandwidth")
    } == {
        (layout, form, transfers)
        for layout in ("CC", "CI", "IC", "II")
        for form in forms.split(",")
        for transfers in ("independent", "collective")
    }
    assert all(row.ceiling is None for row in rows_of(result, "raw_bandwidth"))
    assert "OBSERVED" in out
    assert find_run_folders(target) == []
    records = [one for file in ResultFolder.open(result).read_records() for one in file.records]
    assert {one.verified_bytes for one in records if isinstance(one, PhaseRecord)} == {2 * 2 * 2000 * 32}
    assert all(flag.code != "idle-ranks" for row in rows_of(result, "phase_time") for flag in row.flags)


def test_an_analysis_reads_all_a_part_and_strides(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    sizes = ["--ranks", "2", "--particles", "2000", "--steps", "2", "--compute", "5ms", "--layout", "CC,IC"]
    reads = ["--read", "full,partial,strided", "--run", "10", "--stride", "100", "--access", "independent"]
    words = ["run", "bdcats", "--target", f"here={target}", *sizes, *reads, *ONCE, "--result", str(result)]
    code, _, err = run(command(engine, *words))
    assert code == 0, err
    rows = rows_of(result, "raw_bandwidth")
    assert {(row.params["layout"], row.params["read"]) for row in rows} == {
        (layout, read) for layout in ("CC", "IC") for read in ("full", "partial", "strided")
    }
    assert {row.params["data_of"] for row in rows} == {"other-rank"}
    assert {row.params["access"] for row in rows} == {"read"}


@pytest.mark.each_mpi
@pytest.mark.parametrize("ranks", [1, 3, 8])
def test_any_number_of_ranks_reads_what_others_wrote(engine: Path, tmp_path: Path, target: Path, ranks: int) -> None:
    backends = [("mpiio", "raw"), *([("hdf5", "arrays")] if "hdf5" in formats(engine) else [])]
    cases: list[Document] = [
        {
            "id": secrets.token_hex(8),
            "target": "t",
            "backend": {"name": backend, "parameters": {"collective": True} if collective else {}},
            "workload": {
                "name": "vpic",
                "parameters": {"particles": 900, "steps": 2, "memory": memory, "file": "contiguous", "format": form},
            },
        }
        for backend, form in backends
        for collective in (False, True)
        for memory in ("contiguous", "interleaved")
    ]
    done = run_engine(engine, tmp_path, plan(tmp_path, cases, f"posix:{target}", ranks))
    assert done.code == 0, done.stderr
    reads = [record for record in done.of("phase") if record.phase == "read"]
    assert {record.case for record in reads} == {one["id"] for one in cases}
    assert all(record.verified_bytes == record.bytes == ranks * 2 * 900 * 32 for record in reads)
    assert untouched(target)
