# SPDX-License-Identifier: Apache-2.0
"""Suite ``sar`` on real files with the real engine: all kernels, two nodes, faults, a kill in mid-run, and mistakes."""

import secrets
import subprocess
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import TIMEOUT_S, command, run
from tests.e2e.launching import MIB, Document, plan, untouched
from tests.e2e.test_fault_resume import killed_and_resumed
from tests.places.hosts import hosts_up

from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.results.folder import ResultFolder
from ullage.suites.sar.suite import PHASES

SMALL = ["--scale", "0.1", "--grid", "3", "--depth", "3"]
# These make 9 locations, 27 images of 114 x 76 pixels, 18 pairs.
IMAGE = 114 * 76 * 4
GROUP = 8 * 64 * 64 * 4


def case(backend: Document | None = None, **words: object) -> Document:
    """A small case on a target of files."""
    sizes: Document = {"grid": 3, "depth": 3, "rows": 114, "columns": 76, "raw_columns": 107}
    return {
        "id": secrets.token_hex(8),
        "target": "t",
        "backend": backend or {"name": "posix", "parameters": {}},
        "workload": {"name": "sar", "parameters": sizes | words},
    }


def faulty(**fault: object) -> Document:
    """Backend posix with some calls going wrong."""
    return {"name": "fault", "parameters": {"inner": "posix", **fault}}


def test_every_number_of_ranks_carries_all_images_through_both_layouts(
    engine: Path, tmp_path: Path, target: Path
) -> None:
    result = tmp_path / "result"
    words = ["run", "sar", "--target", f"here={target}", "--ranks", "1,3,8", *SMALL, "--max-repetitions", "1"]
    code, out, err = run(command(engine, *words, "--time", "90s", "--all", "--result", str(result)))
    assert code == 0, err
    folder = ResultFolder.open(result)
    phases = [phase for file in folder.read_records() for phase in file.phases]
    assert len(phases) == 3 * 2 * len(PHASES)
    for phase in phases:
        assert (phase.status, phase.bad_blocks) == ("ok", 0)
        ranks = phase.ranks
        assert phase.syncs == (0 if phase.phase == "k1" else ranks)
        if phase.phase == "k2":
            assert (phase.operations, phase.bytes) == (27, 27 * IMAGE)
        elif phase.phase == "k3":
            assert (phase.operations, phase.bytes) == (18, 36 * IMAGE)
            assert phase.verified_bytes == 36 * IMAGE + 18 * GROUP
            assert phase.data_of == ("own" if ranks == 1 else "other-rank")
        elif phase.phase == "k4":
            assert phase.counters["subimages"] == 18 * 8
    summary = folder.read_summary()
    assert {(row.params["ranks"], row.params["layout"]) for row in summary.rows if row.metric == "pipeline_rate"} == {
        (ranks, layout) for ranks in (1, 3, 8) for layout in ("files", "containers")
    }
    assert "Pipeline of radar images" in out
    assert {"raw-shared", "read-back-same-node"} <= {
        event.code for file in folder.read_records() for event in file.events
    }
    assert untouched(target)


def test_nodes_read_what_the_other_has_written(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "sar", "--target", f"here={target}", "--ranks", "4", "--nodes", "2", *SMALL, "--raw", "own"]
    words += ["--layout", "files", "--max-repetitions", "1", "--time", "60s", "--result", str(result)]
    with hosts_up(tmp_path / "hosts", 2) as place:
        done = subprocess.run(
            place.command("h0", command(engine, *words, "--hosts", ",".join(place.names))),
            env=dict(place.environment(describe(engine).engine.mpi.family)),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    assert done.returncode == 0, done.stderr
    phases = ResultFolder.open(result).read_records()[0].phases
    assert {phase.data_of for phase in phases if phase.phase in ("k1", "k3", "k4")} == {"other-node"}
    assert untouched(target)


@pytest.mark.fault("a target that fills up while images are stored", "the case failed, nothing of ours is left")
def test_a_target_that_fills_up_meanwhile_ends_the_case(engine: Path, tmp_path: Path, small: Path) -> None:
    slow = case(faulty(kind="delay", operation="write", count=0, delay_s=0.1), rows=300, columns=300, templates=2)
    limits = {"space_fraction": 1.0, "reserve_bytes": 0}
    document = plan(tmp_path, [slow], f"posix:{small}", limits=limits)
    # The case needs 12.5 of the 16 MiB, the images alone 9.3.
    done = launching.run_while_filling(engine, tmp_path, document, small, 11 * MIB)
    assert done.code == 4, done.stderr
    assert 28 in {one.errno for record in done.of("phase") for one in record.failures}
    assert find_run_folders(small) == []


@pytest.mark.fault("SIGKILL of a rank among its kernels, then resume", "each repetition once; nothing of ours is left")
def test_a_killed_run_goes_on(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "sar", "--target", f"here={target}", "--ranks", "2", *SMALL, "--layout", "files", "--time", "90s"]
    words += ["--min-repetitions", "3", "--max-repetitions", "3"]
    killed_and_resumed(engine, target, words, result)
