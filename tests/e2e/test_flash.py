# SPDX-License-Identifier: Apache-2.0
"""FLASH files on real storage with the real engine: raw, and HDF5 where it is; a hang, and HDF5 that is not there."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.e2e.commands import command, run

from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder


def rows_of(result: Path, metric: str) -> list[Row]:
    return [row for row in ResultFolder.open(result).read_summary().rows if row.metric == metric]


def has_hdf5(engine: Path) -> bool:
    return any(one.name == "hdf5" and one.available for one in describe(engine).backends)


def test_all_files_are_written_and_read_again(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    formats = "raw,hdf5" if has_hdf5(engine) else "raw"
    sizes = ["--ranks", "2", "--cells", "8", "--blocks", "4", "--format", formats, "--time", "100s"]
    repeated = ["--min-repetitions", "1", "--max-repetitions", "1"]
    if "hdf5" in formats:
        repeated += ["--param", "hdf5.alignment_bytes=8K", "--param", "hdf5.collective_metadata=true"]
    words = ["run", "flash", "--target", f"here={target}", *sizes, *repeated, "--all", "--result", str(result)]
    code, out, err = run(command(engine, *words))
    assert code == 0, err
    found = {
        (row.params["access"], row.params["file"], row.params["format"], row.params["transfers"])
        for row in rows_of(result, "phase_time")
    }
    assert found == {
        (access, file, form, transfers)
        for access in ("write", "read")
        for file in ("checkpoint", "plot-centred", "plot-corner")
        for form in formats.split(",")
        for transfers in ("independent", "collective")
    }
    assert "unknowns" in out
    assert find_run_folders(target) == []
    phases = [phase for file in ResultFolder.open(result).read_records() for phase in file.records]
    verified = [one.verified_bytes for one in phases if getattr(one, "phase", "") == "read"]
    assert verified
    assert min(verified) > 0
    granted = [one.hints_granted for file in ResultFolder.open(result).read_records() for one in file.phases]
    of_hdf5 = [hints for hints in granted if "hdf5.version" in hints]
    assert bool(of_hdf5) == ("hdf5" in formats)
    assert {hints["hdf5.alignment"] for hints in of_hdf5} <= {"8192"}
    assert {hints["hdf5.collective_metadata"] for hints in of_hdf5} <= {"reads and writes"}


@pytest.mark.fault("no HDF5 for the MPI in use, or one of another MPI", "one line that says which is missing; exit 2")
def test_hdf5_that_is_not_there_is_one_line(
    engine: Path, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ULLAGE_HDF5", str(tmp_path / "none.so"))
    words = ["run", "flash", "--target", f"here={target}", "--format", "hdf5", "--ranks", "2", "--quick"]
    code, _, err = run(command(engine, *words, "--result", str(tmp_path / "result")))
    assert code in (2, 3)
    assert "hdf5" in err
    assert "none.so" in err
    told = subprocess.run([engine, "describe", "hdf5"], capture_output=True, text=True, check=True, env=os.environ)
    (backend,) = json.loads(told.stdout)["backends"]
    assert backend["available"] is False
    assert "none.so" in backend["reason"]
