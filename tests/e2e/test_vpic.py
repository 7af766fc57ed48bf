# SPDX-License-Identifier: Apache-2.0
"""Particle files on real storage with the real engine: all layouts written, and read as an analysis reads them."""

from pathlib import Path

from tests.e2e.commands import command, run

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
