# SPDX-License-Identifier: Apache-2.0
"""Suite ``overlap`` on real files with the real engine: all methods, a device of known answers, faults and mistakes."""

from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import command, run
from tests.e2e.launching import Document, plan

from ullage.analysis.metrics.programs import share_that_overlaps
from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.results.folder import ResultFolder

KIB = 1 << 10
AREAS = 2 + 3  # of one round


@pytest.fixture(scope="module")
def measured(engine: Path, here: Path) -> ResultFolder:
    """All methods on 2 ranks, once, and a backend that has none."""
    result = here.parent / "result"
    words = ["run", "overlap", "--target", f"here={here}", "--ranks", "2", "--size", "16K,64K", "--depth", "1,2"]
    words += ["--bytes", "128K", "--rounds", "1", "--tests", "2", "--cache", "advise", "--max-repetitions", "1"]
    words += ["--backend", "posix,mpiio,uring,hdf5", "--time", "60s", "--result", str(result)]
    code, _, err = run(command(engine, *words))
    assert code == 0, err
    return ResultFolder.open(result)


def test_every_method_moves_and_verifies_every_byte(measured: ResultFolder, here: Path, engine: Path) -> None:
    known = {item.name for item in describe(engine).backends if item.available} & {"posix", "mpiio", "uring"}
    shares = [row for row in measured.read_summary().rows if row.metric == "overlap_share"]
    found = {
        (row.params["backend"], row.params["block_bytes"], row.params["depth"], row.params["access"]) for row in shares
    }
    assert found == {
        (name, size, depth, access)
        for name in known
        for size in (16 * KIB, 64 * KIB)
        for depth in (1, 2)
        for access in ("write", "read")
    }
    assert all(0 <= row.median <= 1 for row in shares)
    for file in measured.read_records():
        for phase in file.phases:
            assert (phase.status, phase.bytes, phase.bad_blocks) == ("ok", 2 * AREAS * 128 * KIB, 0)
            assert phase.verified_bytes == (phase.bytes if phase.phase == "read" else 0)
    assert [path.name for path in here.iterdir()] == ["precious"]


def test_what_is_not_available_is_said_with_its_reason(measured: ResultFolder) -> None:
    events = [event for file in measured.read_records() for event in file.events if event.code == "not-available"]
    assert any("backend 'hdf5'" in event.text for event in events)


def case(backend: str, parameters: Document, **workload: object) -> Document:
    words: Document = {"method": "nonblocking", "transfer_bytes": 16 * KIB, "depth": 2, "rounds": 1, **workload}
    return {
        "id": "00000000000000a1",
        "target": "t",
        "backend": {"name": backend, "parameters": parameters},
        "workload": {"name": "overlap", "parameters": words},
    }


def test_a_simulated_device_works_beside_the_computation(engine: Path, tmp_path: Path) -> None:
    """Each batch takes 2 x 5 ms, however long the rank computes: the best repetition overlaps most of it."""
    model = case("model", {"latency_s": 0.005, "bandwidth": 1e12}, verify="none", read=False)
    stop = {"name": "fixed", "parameters": {"count": 5}}
    done = launching.run(engine, tmp_path, plan(tmp_path, [model], "model:", ranks=1, stop_rule=stop))
    assert done.code == 0, done.stderr
    gauges = [phase.gauges for phase in done.of("phase")]
    assert all(found["io_s"].least >= 4 * 0.01 for found in gauges)
    times = [[found[name].sum for name in ("io_s", "compute_s", "both_s")] for found in gauges]
    assert max(share_that_overlaps(*some) for some in times) > 0.5


@pytest.mark.fault("a target that fills up while transfers are begun", "the case failed, nothing of ours is left")
@pytest.mark.parametrize("method", ["threads", "nonblocking"])
def test_a_target_that_fills_up_meanwhile_ends_the_case(engine: Path, tmp_path: Path, small: Path, method: str) -> None:
    backend = "posix" if method == "threads" else "uring"
    if not any(one.name == backend and one.available for one in describe(engine).backends):
        pytest.skip(f"not available: backend {backend}")
    slow = {"inner": backend, "kind": "delay", "operation": "write", "count": 0, "delay_s": 0.1}
    areas_of_a_mebibyte = {"batches": 16, "depth": 1} if method == "threads" else {"batches": 8, "depth": 2}
    bad = case("fault", slow, method=method, transfer_bytes=64 * KIB, **areas_of_a_mebibyte)
    limits = {"space_fraction": 1.0, "reserve_bytes": 0}
    document = plan(tmp_path, [bad], f"posix:{small}", limits=limits)
    done = launching.run_while_filling(engine, tmp_path, document, small, 16 * launching.MIB)
    assert done.code == 4, done.stderr
    assert 28 in {one.errno for record in done.of("phase") for one in record.failures}
    assert find_run_folders(small) == []
