# SPDX-License-Identifier: Apache-2.0
"""Tiles on real files with the real engine: sizes to the byte, every number of ranks, and what goes wrong."""

import secrets
from pathlib import Path

import pytest
from tests.e2e.commands import command, ullage
from tests.e2e.commands import run as run_words
from tests.e2e.launching import MIB, Document, cleaned, plan, run_while_filling

from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.results.folder import ResultFolder
from ullage.suites.tile.options import grid_of


def case(backend: Document | None = None, **words: object) -> Document:
    """A small case: tiles of 64 x 48 elements of 3 bytes, with overlap, 3 frames."""
    given: Document = {
        "tile_x": 64,
        "tile_y": 48,
        "overlap_x": 5,
        "overlap_y": 3,
        "element_bytes": 3,
        "header_bytes": 77,
        "frames": 3,
    }
    return {
        "id": secrets.token_hex(8),
        "target": "t",
        "backend": backend or {"name": "mpiio", "parameters": {}},
        "workload": {"name": "tile", "parameters": given | words},
    }


def tiled(ranks: int, **words: object) -> Document:
    x, y, _ = grid_of(ranks)
    return case(None, tiles_x=x, tiles_y=y, **words)


def faulty(**fault: object) -> Document:
    """MPI-IO with some calls going wrong."""
    return {"name": "fault", "parameters": {"inner": "mpiio", **fault}}


def has_hdf5(engine: Path) -> bool:
    return any(one.name == "hdf5" and one.available for one in describe(engine).backends)


@pytest.mark.fault("a target that fills up while frames are written", "the case failed, its file removed")
def test_a_target_that_fills_up_meanwhile_ends_the_case(engine: Path, tmp_path: Path, small: Path) -> None:
    slow = faulty(kind="delay", operation="write", count=0, delay_s=0.25)
    frames = tiled(2, tile_x=512, tile_y=256, overlap_x=0, overlap_y=0, header_bytes=0, frames=16) | {"backend": slow}
    limits = {"space_fraction": 1.0, "reserve_bytes": 0}
    document = plan(tmp_path, [frames], f"posix:{small}", ranks=2, watchdog_s=20.0, limits=limits)
    done = run_while_filling(engine, tmp_path, document, small, 6 * MIB)
    if done.of("end")[0].status == "timeout":
        # ROMIO was seen to let a rank wait for ever after another has found no room: the watchdog ends the run then.
        assert any(event.code == "timeout" and "write" in event.text for event in done.of("event"))
        assert cleaned(engine, small / f"ullage-{document['run_id']}")
    else:
        assert done.code == 4, done.stderr
        assert [failure for record in done.of("phase") for failure in record.failures]
    assert find_run_folders(small) == []


@pytest.mark.each_mpi
def test_calls_and_hints_are_compared_and_drawn(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    sizes = ["--tiles", "2x1", "--tile", "64x32", "--overlap", "4", "--frames", "4", "--time", "60s"]
    sets = ["--hints", "default", "--hints", "odd:no_such_hint=7,romio_cb_write=enable", "--max-repetitions", "1"]
    words = ["run", "tile", "--target", f"here={target}", *sizes, *sets]
    code, out, err = run_words(command(engine, *words, "--all", "--result", str(result)))
    assert code == 0, err
    summary = ResultFolder.open(result).read_summary()
    found = {
        (row.params["access"], row.params["calls"], row.params["hint_set"])
        for row in summary.rows
        if row.metric == "frame_rate"
    }
    assert found == {
        (access, calls, name)
        for access in ("write", "read")
        for calls in ("independent", "collective")
        for name in ("default", "odd")
    }
    ignored = [one for one in summary.findings if one.kind == "tile-hints-ignored"]
    # OMPIO repeats what it is given, and ROMIO names what it knows.
    assert {str(one.numbers["key"]) for one in ignored} in ({"romio_cb_write"}, {"no_such_hint"})
    assert "Tiles of a data set" in out
    assert "rank 1: 180" in out
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.mark.each_mpi
def test_hdf5_has_tiles_by_both_kinds_of_calls_and_says_what_it_adds(
    engine: Path, target: Path, tmp_path: Path
) -> None:
    if not has_hdf5(engine):
        pytest.skip("parallel HDF5 of this MPI is missing")
    result = tmp_path / "result"
    words = ["run", "tile", "--target", f"here={target}", "--backend", "hdf5", "--param", "hdf5.alignment_bytes=4K"]
    sizes = ["--tiles", "2x1", "--ranks", "3", "--tile", "64x32", "--overlap", "4", "--frames", "3"]
    code, out, err = run_words(
        command(engine, *words, *sizes, "--time", "60s", "--max-repetitions", "1", "--all", "--result", str(result))
    )
    assert code == 0, err
    phases = [phase for file in ResultFolder.open(result).read_records() for phase in file.phases]
    assert {(phase.phase, phase.facts["calls"]) for phase in phases} == {
        (access, calls) for access in ("write", "read") for calls in ("independent", "collective")
    }
    assert all(phase.verified_bytes == phase.bytes == 2 * 3 * 64 * 32 * 3 for phase in phases if phase.phase == "read")
    assert all(
        phase.facts["surplus_ranks"] == [2] and phase.hints_granted["hdf5.alignment"] == "4096" for phase in phases
    )
    added = {phase.counters["added_bytes"] for phase in phases if phase.phase == "write"}
    assert min(added) > 0
    assert "HDF5 adds its own data to those bytes" in out
    assert [path.name for path in target.iterdir()] == ["precious"]


def test_a_line_of_mpi_tile_io_is_measured(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    line = (
        "mpirun -np 2 mpi-tile-io --nr_tiles_x 2 --sz_tile_x 64 --sz_tile_y 32 --sz_element 16 --overlap_x 4 "
        f"--write_file --collective --filename {target}/tiles"
    )
    code, _, err = run_words(ullage("run", "from-mpi-tile-io", line, "--result", str(result), "--engine", str(engine)))
    assert code == 0, err
    phases = ResultFolder.open(result).read_records()[0].phases
    assert [phase.phase for phase in phases] == ["write", "read"] * 6
    assert {phase.facts["file_bytes"] for phase in phases} == {124 * 32 * 16}
    assert find_run_folders(target) == []
