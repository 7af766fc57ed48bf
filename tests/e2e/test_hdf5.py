# SPDX-License-Identifier: Apache-2.0
"""Backend ``hdf5`` on real files with the real engine: sweeps, lines of IOR, what is granted, no space for metadata."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import run, ullage
from tests.e2e.launching import KIB, MIB, Document, case, code_of, plan

from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.model.record import PhaseRecord
from ullage.results.folder import ResultFolder

NO_SPACE = 28


@pytest.fixture
def hdf5(engine: Path) -> Path:
    """The engine, where it has HDF5."""
    (backend,) = (one for one in describe(engine).backends if one.name == "hdf5")
    if not backend.available:
        pytest.skip(f"hdf5: {backend.reason}")
    return engine


def phases_of(result: Path) -> list[PhaseRecord]:
    return [phase for file in ResultFolder.open(result).read_records() for phase in file.phases]


def shared(parameters: Document | None = None, **workload: object) -> Document:
    return case("hdf5", parameters, file_mode="shared", **workload)


@pytest.mark.each_mpi
def test_the_package_for_this_mpi_is_used(engine: Path) -> None:
    """Debian's HDF5 for MPICH is also that of the wheel's MPICH."""
    described = describe(engine)
    family = described.engine.mpi.family
    if not list(Path("/usr/lib").glob(f"*/libhdf5_{family}.so.*")):
        pytest.skip(f"libhdf5-{family} is not installed")
    (backend,) = (one for one in described.backends if one.name == "hdf5")
    assert backend.available, backend.reason


@pytest.mark.each_mpi
def test_a_sweep_on_several_rank_counts(hdf5: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "sweep", "--target", f"here={target}", "--backend", "hdf5", "--ranks", "1,2,4", "--block", "64K"]
    words += ["--volume", "1M", "--time", "60s", "--min-repetitions", "1", "--max-repetitions", "1", "--all"]
    code, _, err = run(ullage(*words, "--result", str(result), "--engine", str(hdf5)))
    assert code == 0, err
    rows = [row for row in ResultFolder.open(result).read_summary().rows if row.metric == "bandwidth"]
    assert {(row.params["ranks"], row.params["access"]) for row in rows} == {
        (ranks, access) for ranks in (1, 2, 4) for access in ("write", "read")
    }
    assert all(row.median > 0 for row in rows)
    phases = phases_of(result)
    assert all(phase.status == "ok" and phase.bytes > 0 and phase.bad_blocks == 0 for phase in phases)
    assert all(phase.verified_bytes == phase.bytes for phase in phases if phase.phase == "read")
    assert {phase.hints_granted["hdf5.layout"] for phase in phases} == {"contiguous"}
    assert find_run_folders(target) == []


def test_a_line_of_ior(hdf5: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    line = f"mpirun -np 2 ior -a HDF5 -c -w -r -R -e -t 64k -b 512k -o {target}/f"
    code, _, err = run(ullage("run", "from-ior", line, "--result", str(result), "--engine", str(hdf5)))
    assert code == 0, err
    written, read = phases_of(result)
    assert [(phase.phase, phase.bytes, phase.operations) for phase in (written, read)] == [
        ("write", MIB, 16),
        ("read", MIB, 16),
    ]
    assert written.syncs == 2
    assert read.verified_bytes == MIB
    assert {phase.hints_granted["hdf5.io_mode"] for phase in (written, read)} == {"contiguous collective"}
    assert find_run_folders(target) == []


@pytest.mark.each_mpi
def test_the_record_has_what_the_library_granted(hdf5: Path, target: Path, tmp_path: Path) -> None:
    """The library, not the plan, is asked. What it refuses fails the case in one line, and the plan goes on."""
    asked: list[tuple[Document, dict[str, str]]] = [
        ({"chunk_bytes": 100 * KIB, "fill": True}, {"layout": "chunked", "chunk_elements": "102400"}),
        ({"alignment_bytes": 65536, "new_format": True}, {"alignment": "65536", "format": "1.10", "fill": "never"}),
        ({"collective": True, "collective_metadata": True}, {"collective_metadata": "reads and writes"}),
        ({"page_buffer_bytes": MIB}, {"page_buffer": str(MIB)}),
        ({"evict_on_close": True}, {"evict_on_close": "yes"}),
    ]
    cases = [shared(parameters, block_bytes=256 * KIB) for parameters, _ in asked]
    done = launching.run(hdf5, tmp_path, plan(tmp_path, cases, f"posix:{target}"))
    status = {record.case: record.status for record in done.of("case")}
    for one, (parameters, facts) in zip(cases, asked, strict=True):
        phases = [record for record in done.of("phase") if record.case == one["id"]]
        if status[one["id"]] == "ok":
            wanted = {f"hdf5.{key}": value for key, value in facts.items()}
            assert all(wanted.items() <= phase.hints_granted.items() for phase in phases), phases
        else:
            assert parameters.keys() <= {"page_buffer_bytes", "evict_on_close"}
            texts = [event.text for event in done.of("event") if event.code == "case-failed"]
            assert all("\n" not in text for text in texts), texts
    assert launching.untouched(target)


@pytest.fixture
def nearly_small(tmp_path: Path) -> Iterator[Path]:
    """A file system for the data of a case, its folder and hardly anything else."""
    folder = tmp_path / "nearly"
    folder.mkdir()
    if code_of(["mount", "-t", "tmpfs", "-o", f"size={2 * MIB + 24 * KIB}", "none", str(folder)]) != 0:
        pytest.skip("mounting a tmpfs is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.each_mpi
@pytest.mark.fault(
    "no space for the metadata of an HDF5 file", "that case failed with ENOSPC in one line; the next is run"
)
def test_no_space_for_metadata_ends_the_case_alone(hdf5: Path, nearly_small: Path, tmp_path: Path) -> None:
    full = [shared(), shared({"chunk_bytes": 4 * KIB}, sync="none"), shared({"collective": True})]
    good = shared(block_bytes=256 * KIB)
    limits = {"reserve_bytes": 0, "space_fraction": 1.0}
    document = plan(tmp_path, [*full, good], f"posix:{nearly_small}", limits=limits, order="listed")
    done = launching.run(hdf5, tmp_path, document)
    assert done.code == 4, done.stderr
    status = {record.case: record.status for record in done.of("case")}
    assert [status[one["id"]] for one in [*full, good]] == ["failed", "failed", "failed", "ok"]
    failed = [record for record in done.of("phase") if record.status == "failed"]
    assert {record.case for record in failed} == {one["id"] for one in full}
    assert all(NO_SPACE in [failure.errno for failure in record.failures] for record in failed)
    assert all("\n" not in failure.text for record in failed for failure in record.failures)
    assert list(nearly_small.iterdir()) == []
