# SPDX-License-Identifier: Apache-2.0
"""Calls that fail, fall short or lie, on the real engine: it says what and where, and the rest goes on."""

from pathlib import Path

import pytest
from tests.e2e.launching import KIB, MIB, Document, case, plan, run, run_until, untouched


@pytest.mark.fault(
    "EIO, ENOSPC, EDQUOT of a write",
    "exit 4; errno, path and rank in the record; the other cases are run; target empty but for what was there",
)
@pytest.mark.parametrize(("kind", "errno"), [("eio", 5), ("enospc", 28), ("edquot", 122)])
def test_injected_errors_fail_the_case_with_errno_path_and_rank(
    engine: Path, tmp_path: Path, target: Path, kind: str, errno: int
) -> None:
    fault = {"inner": "posix", "kind": kind, "operation": "write", "rank": 1, "after": 3}
    bad, good = case(backend="fault", parameters=fault), case()
    done = run(engine, tmp_path, plan(tmp_path, [bad, good], f"posix:{target}"))
    assert done.code == 4
    failure = next(record for record in done.of("phase") if record.case == bad["id"]).failures[0]
    assert (failure.errno, failure.rank) == (errno, 1)
    assert "data.00000001" in failure.path
    assert {record.status for record in done.of("case") if record.case == good["id"]} == {"ok"}
    assert untouched(target)


@pytest.mark.each_mpi
@pytest.mark.fault("EIO of open, sync, close, read", "exit 4; target empty but for what was there")
@pytest.mark.parametrize("operation", ["open", "sync", "close", "read"])
def test_errors_of_every_operation_are_errors(engine: Path, tmp_path: Path, target: Path, operation: str) -> None:
    fault = {"inner": "posix", "kind": "eio", "operation": operation, "rank": 0}
    document = plan(tmp_path, [case(backend="fault", parameters=fault)], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert done.code == 4
    assert untouched(target)


@pytest.mark.fault(
    "EIO of mkdir, create, stat, remove", "exit 4, the errno in the record; target empty but for what was there"
)
@pytest.mark.parametrize(("operation", "rank"), [("mkdir", 0), ("create", 1), ("stat", 1), ("remove", 1)])
def test_errors_of_names_are_errors(engine: Path, tmp_path: Path, target: Path, operation: str, rank: int) -> None:
    fault = {"inner": "posix", "kind": "eio", "operation": operation, "rank": rank, "after": 2}
    phases = ["tree-create", "create", "stat", "unlink", "tree-remove"]
    workload = {"name": "metadata", "parameters": {"items": 20, "phases": phases, "branching": 2, "depth": 2}}
    bad = case(backend="fault", parameters=fault) | {"workload": workload}
    good = case()
    done = run(engine, tmp_path, plan(tmp_path, [bad, good], f"posix:{target}"))
    assert done.code == 4, done.stderr
    failures = [failure for record in done.of("phase") if record.case == bad["id"] for failure in record.failures]
    assert {(failure.errno, failure.rank) for failure in failures} == {(5, rank)}
    assert {record.status for record in done.of("case") if record.case == good["id"]} == {"ok"}
    assert untouched(target)


@pytest.mark.fault("short reads and writes", "exit 0, all bytes verified")
def test_short_transfers_are_continued(engine: Path, tmp_path: Path, target: Path) -> None:
    for operation in ("write", "read"):
        fault = {"inner": "posix", "kind": "short", "operation": operation, "short_bytes": 1000, "count": 0}
        done = run(
            engine,
            tmp_path,
            plan(tmp_path, [case(backend="fault", parameters=fault, verify="full")], f"posix:{target}"),
        )
        assert done.code == 0, done.stderr
        assert done.phase("read").verified_bytes == 2 * MIB


@pytest.mark.fault("a flipped bit", "exit 4; file, offset, expected and found in the record")
def test_one_flipped_bit_fails_the_run(engine: Path, tmp_path: Path, target: Path) -> None:
    fault = {"inner": "posix", "kind": "flip", "operation": "write", "rank": 1, "after": 2, "flip_bit": 8 * 777}
    done = run(
        engine, tmp_path, plan(tmp_path, [case(backend="fault", parameters=fault, verify="full")], f"posix:{target}")
    )
    assert done.code == 4
    failure = done.phase("read").failures[0]
    assert failure.offset_bytes == 2 * 64 * KIB + 777
    assert failure.expected
    assert failure.found
    assert "data.00000001" in failure.path


def test_more_than_256_bad_blocks_are_no_success(engine: Path, tmp_path: Path, target: Path) -> None:
    words = {"transfer_bytes": 4 * KIB, "block_bytes": 2 * MIB}
    fault = {"inner": "posix", "kind": "flip", "operation": "write", "count": 256}
    done = run(
        engine,
        tmp_path,
        plan(tmp_path, [case(backend="fault", parameters=fault, verify="full", **words)], f"posix:{target}", ranks=1),
    )
    assert done.phase("read").bad_blocks == 256
    assert done.code == 4


def test_read_back_of_one_rank_says_that_it_is_its_own_data(engine: Path, tmp_path: Path, target: Path) -> None:
    document = plan(tmp_path, [case(read_back="other-rank")], f"posix:{target}", ranks=1)
    done = run(engine, tmp_path, document)
    assert "read-back-own" in done.codes()
    two = run(
        engine,
        tmp_path,
        plan(
            tmp_path,
            [case(read_back="other-rank", verify="full")],
            f"posix:{target}",
            ranks=2,
            records=str(tmp_path / "r2"),
        ),
    )
    assert two.code == 0, two.stderr
    assert "read-back-own" not in two.codes()
    assert two.phase("read").data_of == "other-rank"


def test_after_a_stonewall_only_what_was_written_is_read(engine: Path, tmp_path: Path, target: Path) -> None:
    done = run(
        engine, tmp_path, plan(tmp_path, [case(block_bytes=256 * MIB, stonewall_s=0.001)], f"posix:{target}", ranks=1)
    )
    assert done.code == 0, done.stderr
    assert 0 < done.phase("read").bytes <= done.phase("write").bytes < 256 * MIB


@pytest.mark.each_mpi
@pytest.mark.fault(
    "an error of one rank in a shared MPI-IO file",
    "exit 4, nobody hangs, the other case is run; target empty but for what was there",
)
@pytest.mark.parametrize("collective", [False, True])
@pytest.mark.parametrize("sync", ["close", "every"])
def test_error_of_one_rank_of_a_shared_mpi_file_does_not_hang_the_others(
    engine: Path, tmp_path: Path, target: Path, sync: str, collective: bool
) -> None:
    inner = {"collective": "true" if collective else "false"}
    fault = {"inner": "mpiio", "inner_parameters": inner, "kind": "eio", "operation": "write", "rank": 1, "after": 3}
    bad = case(backend="fault", parameters=fault, file_mode="shared", sync=sync)
    good = case(backend="mpiio", parameters={"collective": collective}, file_mode="shared", sync=sync, verify="full")
    done = run(engine, tmp_path, plan(tmp_path, [bad, good], f"posix:{target}", watchdog_s=20.0))
    assert done.code == 4, done.stderr
    assert done.of("end")[0].status == "failed"
    assert [failure.rank for record in done.of("phase") for failure in record.failures] == [1]
    assert untouched(target)


@pytest.mark.each_mpi
@pytest.mark.parametrize("collective", [False, True])
def test_stonewall_of_a_shared_mpi_file_with_syncs_between(
    engine: Path, tmp_path: Path, target: Path, collective: bool
) -> None:
    words = {
        "file_mode": "shared",
        "sync": "every",
        "sync_every": 2,
        "stonewall_s": 0.2,
        "wear_out": True,
        "block_bytes": 512 * MIB,
    }

    def walled(folder: Path) -> Document:
        cases = [case(backend="mpiio", parameters={"collective": collective}, **words)]
        return plan(folder, cases, f"posix:{target}", watchdog_s=20.0)

    # A rank that stands still until the wall has done nothing.
    done = run_until(
        engine, tmp_path, walled, lambda one: one.code != 0 or one.phase("write").stonewall.least_operations > 0
    )
    assert done.code == 0, done.stderr
    assert done.phase("write").stonewall.least_operations > 0


def test_failed_open_under_wear_out_fails_the_case_and_not_the_run(engine: Path, tmp_path: Path, target: Path) -> None:
    fault = {"inner": "posix", "kind": "eio", "operation": "open", "rank": 1}
    walled = case(backend="fault", parameters=fault, stonewall_s=0.1, wear_out=True)
    done = run(engine, tmp_path, plan(tmp_path, [walled, case()], f"posix:{target}"))
    assert done.code == 4, done.stderr
    assert done.of("end")[0].cases_ok == 1
    assert untouched(target)


def test_reads_that_never_began_are_not_called_corrupt(engine: Path, tmp_path: Path, target: Path) -> None:
    """The wall ends the reads in the middle of a batch, after the buffers have been used more than once."""
    slow = {"inner": "posix", "kind": "delay", "operation": "read", "delay_s": 0.001, "count": 0}
    words = {"transfer_bytes": MIB, "block_bytes": 512 * MIB, "stonewall_s": 0.6}

    def walled(folder: Path) -> Document:
        return plan(folder, [case(backend="fault", parameters=slow, **words)], f"posix:{target}")

    done = run_until(engine, tmp_path, walled, lambda one: one.code != 0 or one.phase("read").operations > 2 * 16)
    assert done.code == 0, done.stderr
    read = done.phase("read")
    assert read.operations > 2 * 16
    assert 0 < read.verified_bytes <= read.bytes


def test_full_verification_longer_than_the_watchdog_is_progress(engine: Path, tmp_path: Path, target: Path) -> None:
    """One of some runs ends so. In another the machine itself may stand still for longer than this watchdog waits."""
    slow = {"inner": "posix", "kind": "delay", "operation": "read", "delay_s": 0.1, "count": 0}
    words = {"transfer_bytes": MIB, "block_bytes": 32 * MIB, "verify": "full"}

    def verified(folder: Path) -> Document:
        return plan(folder, [case(backend="fault", parameters=slow, **words)], f"posix:{target}", watchdog_s=2)

    done = run_until(engine, tmp_path, verified, lambda one: one.code == 0)
    assert done.code == 0, done.stderr
