# SPDX-License-Identifier: Apache-2.0
"""Workload `flash` through the engine alone: number of ranks, full storage in mid-phase, a hang."""

import json
import secrets
import subprocess
from pathlib import Path

import pytest
from tests.e2e.launching import Document, cleaned, plan, run, untouched


def flash(backend: str, parameters: Document | None = None, form: str = "raw", **workload: object) -> Document:
    words: Document = {"cells": 4, "blocks": 3, "format": form, **workload}
    return {
        "id": secrets.token_hex(8),
        "target": "t",
        "backend": {"name": backend, "parameters": parameters or {}},
        "workload": {"name": "flash", "parameters": words},
    }


def forms(engine: Path) -> list[tuple[str, str]]:
    told = subprocess.run([engine, "describe", "hdf5"], capture_output=True, text=True, check=True)
    has_hdf5 = json.loads(told.stdout)["backends"][0]["available"]
    return [("mpiio", "raw"), ("posix", "raw"), *([("hdf5", "arrays")] if has_hdf5 else [])]


@pytest.mark.each_mpi
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 8])
def test_any_number_of_ranks_reads_what_it_wrote(engine: Path, tmp_path: Path, target: Path, ranks: int) -> None:
    cases = [
        flash(backend, {"collective": True} if collective else {}, form, blocks=0, file=file)
        for backend, form in forms(engine)
        for collective in ((False,) if backend == "posix" else (False, True))
        for file in ("checkpoint", "plot-corner")
    ]
    done = run(engine, tmp_path, plan(tmp_path, cases, f"posix:{target}", ranks))
    assert done.code == 0, done.stderr
    reads = [record for record in done.of("phase") if record.phase == "read"]
    assert {record.case for record in reads} == {one["id"] for one in cases}
    assert all(record.verified_bytes == record.bytes > 0 and record.bad_blocks == 0 for record in reads)
    assert untouched(target)


def test_files_have_the_sizes_of_the_original_to_the_byte(engine: Path, tmp_path: Path, target: Path) -> None:
    """By the bytes of a block of 16 cubed cells as the original's formulas give them: 4-byte and older 8-byte plots."""
    of_block = {
        ("checkpoint", 4): 24 * 16**3 * 8 + 164,
        ("plot-centred", 4): 4 * 16**3 * 4 + 116,
        ("plot-centred", 8): 4 * 16**3 * 8 + 164,
        ("plot-corner", 4): 4 * 17**3 * 4 + 116,
        ("plot-corner", 8): 4 * 17**3 * 8 + 164,
    }
    cases = {
        (file, real): flash("mpiio", {}, cells=16, blocks=2, file=file, plot_real_bytes=real) for file, real in of_block
    }
    document = plan(tmp_path, list(cases.values()), f"posix:{target}", ranks=2, keep=True)
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
    folder = target / f"ullage-{document['run_id']}"
    for what, block_bytes in of_block.items():
        found = (folder / f"c-{cases[what]['id']}" / "data").stat().st_size
        assert found == 4096 + 2 * 2 * block_bytes, what
    verified = {record.case: record.verified_bytes for record in done.of("phase") if record.phase == "read"}
    assert verified == {cases[what]["id"]: 4 * block_bytes for what, block_bytes in of_block.items()}
    assert cleaned(engine, folder)
    assert untouched(target)


@pytest.mark.each_mpi
@pytest.mark.fault("no space in the middle of a checkpoint", "that case failed with ENOSPC, the next one complete")
def test_no_space_in_mid_phase_ends_the_case_alone(engine: Path, tmp_path: Path, target: Path) -> None:
    for backend, form in forms(engine):
        fault: Document = {"inner": backend, "kind": "enospc", "operation": "write", "rank": 1, "after": 9}
        document = plan(tmp_path, [flash("fault", fault, form), flash(backend, None, form)], f"posix:{target}")
        done = run(engine, tmp_path, document)
        assert done.code == 4, done.stderr
        told = [(record.backend, record.status) for record in done.of("case")]
        assert set(told) == {("fault", "failed"), (backend, "ok")}
        assert told.count(("fault", "failed")) == 1
        assert untouched(target)
        (tmp_path / "records.ndjson").unlink()


@pytest.mark.fault("a write of a checkpoint that never returns", "end status timeout; clean empties the target")
def test_a_hang_becomes_a_timeout(engine: Path, tmp_path: Path, target: Path) -> None:
    for backend, form in forms(engine):
        fault: Document = {"inner": backend, "kind": "hang", "operation": "write", "rank": 1, "after": 9}
        document = plan(tmp_path, [flash("fault", fault, form)], f"posix:{target}", watchdog_s=2.0)
        done = run(engine, tmp_path, document)
        assert done.code != 0
        assert done.of("end")[0].status == "timeout"
        assert cleaned(engine, target / f"ullage-{document['run_id']}")
        assert untouched(target)
        (tmp_path / "records.ndjson").unlink()
