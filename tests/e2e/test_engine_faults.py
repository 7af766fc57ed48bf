# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on real machines, done to the real engine.

It says what and where, the rest goes on, nothing is left behind.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.launching import KIB, MIB, case, command, finish, plan, run, start, write


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder with one foreign file in it, which must still be there afterwards."""
    folder = tmp_path / "target"
    folder.mkdir()
    (folder / "precious").write_text("do not touch")
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A memory file system of 16 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if code_of(["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(folder)]) != 0:
        pytest.skip("mounting a tmpfs is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def code_of(words: list[str]) -> int:
    return subprocess.run(words, check=False, capture_output=True).returncode


def untouched(target: Path) -> bool:
    return [path.name for path in target.iterdir()] == ["precious"] and (
        target / "precious"
    ).read_text() == "do not touch"


def test_round_trip_leaves_nothing(engine: Path, tmp_path: Path, target: Path) -> None:
    document = plan(tmp_path, [case(verify="full")], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
    assert done.phase("read").verified_bytes == 2 * MIB
    assert done.of("end")[0].status == "complete"
    assert untouched(target)


@pytest.mark.parametrize(
    "name", ['with "quotes"', "with blanks and 'more'", "<script>alert(1)</script>".replace("/", "_"), "new\nline"]
)
def test_strange_paths(engine: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    done = run(engine, tmp_path, plan(tmp_path, [case(verify="full")], f"posix:{folder}"))
    assert done.code == 0, done.stderr
    assert list(folder.iterdir()) == []


def test_bad_plan_is_exit_2_with_the_pointer(engine: Path, tmp_path: Path, target: Path) -> None:
    document = plan(tmp_path, [case(transfer_bytes=100)], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert "/cases/0/workload/parameters/transfer_bytes" in done.stderr
    assert done.code == 2
    assert done.records == []
    assert untouched(target)


def test_wrong_number_of_ranks_is_exit_3(engine: Path, tmp_path: Path, target: Path) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [case()], f"posix:{target}", ranks=2), ranks=3)
    assert done.code == 3
    assert "/layout/ranks" in done.stderr
    assert done.records == []
    assert untouched(target)


def test_missing_target_is_exit_3(engine: Path, tmp_path: Path, target: Path) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [case()], f"posix:{target}/missing"))
    assert done.code == 3
    assert f"{target}/missing" in done.stderr
    assert untouched(target)


def test_read_only_target_is_exit_3(engine: Path, tmp_path: Path, small: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    done = run(engine, tmp_path, plan(tmp_path, [case()], f"posix:{small}"))
    assert done.code == 3
    assert "ead-only" in done.stderr


def test_too_small_target_is_exit_3_before_anything_is_made(engine: Path, tmp_path: Path, small: Path) -> None:
    done = run(engine, tmp_path, plan(tmp_path, [case(block_bytes=8 * MIB)], f"posix:{small}"))
    assert done.code == 3
    assert "needs 16777216 bytes" in done.stderr
    assert list(small.iterdir()) == []


def test_full_in_the_middle_ends_the_case_and_not_the_plan(engine: Path, tmp_path: Path, small: Path) -> None:
    cases = [case(block_bytes=6 * MIB), case()]
    document = plan(tmp_path, cases, f"posix:{small}", limits={"space_fraction": 1.0, "reserve_bytes": 0})
    document["stop_rule"]["parameters"]["count"] = 200
    document["time_budget_s"] = 20
    process = start(engine, tmp_path, document)
    deadline = time.monotonic() + 20
    while not any(small.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    with (small / "filler").open("wb", buffering=0) as filler:  # somebody else takes the room while the run is on
        for _ in range(9):
            with contextlib.suppress(OSError):  # as much of it as there is
                filler.write(bytes(MIB))
    done = finish(process, document)
    assert done.code == 4, done.stderr
    failed = [record for record in done.of("case") if record.status == "failed"]
    assert {record.case for record in failed} == {cases[0]["id"]}
    failures = [failure for record in done.of("phase") for failure in record.failures]
    assert failures[0].errno == 28
    assert failures[0].path
    assert sum(record.case == cases[1]["id"] and record.status == "ok" for record in done.of("case")) > 1
    assert [path.name for path in small.iterdir()] == ["filler"]


def test_foreign_folder_of_our_name_is_refused(engine: Path, tmp_path: Path, target: Path) -> None:
    document = plan(tmp_path, [case()], f"posix:{target}")
    foreign = target / f"ullage-{document['run_id']}"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("years of work")
    done = run(engine, tmp_path, document)
    assert done.code == 3
    assert (foreign / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("file_mode", ["shared", "per-process"])
@pytest.mark.parametrize("backend", ["posix", "mpiio"])
def test_planted_link_is_not_followed(engine: Path, tmp_path: Path, target: Path, backend: str, file_mode: str) -> None:
    document = plan(
        tmp_path,
        [case(backend=backend, file_mode=file_mode)],
        f"posix:{target}",
        stop_rule={"name": "fixed", "parameters": {"count": 2000}},
        time_budget_s=20,
    )
    process = start(engine, tmp_path, document)
    directory = target / f"ullage-{document['run_id']}" / f"c-{document['cases'][0]['id']}"
    planted = directory / ("data" if file_mode == "shared" else "data.00000000")
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline and process.poll() is None:
        try:
            planted.symlink_to(target / "precious")
            break
        except OSError:
            continue
    done = finish(process, document)
    assert (target / "precious").read_text() == "do not touch"
    assert done.code in (0, 4)  # 0: the link was planted after its last use


def test_whole_dataset_directory_replaced_by_a_link(engine: Path, tmp_path: Path, target: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    document = plan(tmp_path, [case()], f"posix:{target}")
    run_folder = target / f"ullage-{document['run_id']}"
    document["cases"].append(case())
    document |= {"keep": True}
    assert run(engine, tmp_path, document).code == 0
    victim = run_folder / f"c-{document['cases'][0]['id']}"
    shutil.rmtree(victim, ignore_errors=True)
    victim.symlink_to(outside)
    (outside / "data.00000000").write_text("precious too")
    code_of([str(engine), "clean", str(run_folder)])
    assert (outside / "data.00000000").read_text() == "precious too"


@pytest.mark.parametrize(("kind", "errno"), [("eio", 5), ("enospc", 28), ("edquot", 122)])
def test_injected_errors_fail_the_case_with_errno_path_and_rank(
    engine: Path, tmp_path: Path, target: Path, kind: str, errno: int
) -> None:
    fault = {"inner": "posix", "kind": kind, "operation": "write", "rank": 1, "after": 3}
    document = plan(tmp_path, [case(backend="fault", parameters=fault), case()], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert done.code == 4
    failure = done.of("phase")[0].failures[0] if done.of("phase")[0].failures else done.of("phase")[-1].failures[0]
    assert (failure.errno, failure.rank) == (errno, 1)
    assert "data.00000001" in failure.path
    assert sum(record.status == "ok" for record in done.of("case")) == 1
    assert untouched(target)


@pytest.mark.parametrize("operation", ["open", "sync", "close", "read"])
def test_errors_of_every_operation_are_errors(engine: Path, tmp_path: Path, target: Path, operation: str) -> None:
    fault = {"inner": "posix", "kind": "eio", "operation": operation, "rank": 0}
    document = plan(tmp_path, [case(backend="fault", parameters=fault)], f"posix:{target}")
    done = run(engine, tmp_path, document)
    assert done.code == 4
    assert untouched(target)


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


def test_hang_becomes_a_timeout_with_everything_flushed(engine: Path, tmp_path: Path, target: Path) -> None:
    fault = {"inner": "posix", "kind": "hang", "operation": "write", "rank": 1, "after": 2}
    document = plan(tmp_path, [case(backend="fault", parameters=fault)], f"posix:{target}", watchdog_s=1.0)
    done = run(engine, tmp_path, document)
    assert done.code != 0
    assert done.of("end")[0].status == "timeout"
    event = next(event for event in done.of("event") if event.code == "timeout")
    assert event.rank == 1
    assert event.node
    folder = target / f"ullage-{document['run_id']}"
    assert code_of([str(engine), "clean", str(folder)]) == 0
    assert untouched(target)


def wait_for_phase(document: dict[str, object], timeout_s: float = 20) -> None:
    deadline = time.monotonic() + timeout_s
    path = Path(str(document["records"]))
    while time.monotonic() < deadline:
        if path.exists() and '"kind":"case"' in path.read_text():
            return
        time.sleep(0.05)
    pytest.fail("no repetition ended in time")


def is_engine(word: bytes, engine: Path) -> bool:
    return os.path.realpath(word) == os.fsencode(engine.resolve())


def rank_pids(engine: Path, path: Path) -> list[int]:
    """Process ids of the ranks that run this plan: not the launcher, whose words hold the same names."""
    found = list[int]()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if (
            len(words) >= 3
            and os.path.realpath(words[0]) == os.fsencode(engine.resolve())
            and words[2] == os.fsencode(path)
        ):
            found.append(int(folder.name))
    return sorted(found)


def endless(tmp_path: Path, target: Path) -> dict[str, object]:
    return plan(
        tmp_path, [case(), case()], f"posix:{target}", stop_rule={"name": "fixed", "parameters": {"count": 1000000}}
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_at_the_ranks_ends_cleanly(engine: Path, tmp_path: Path, target: Path, number: signal.Signals) -> None:
    document = endless(tmp_path, target)
    process = start(engine, tmp_path, document)
    wait_for_phase(document)
    os.kill(rank_pids(engine, tmp_path / "plan.json")[0], number)
    done = finish(process, document)
    assert done.of("end")[0].status == "interrupted"
    assert done.code != 0
    assert untouched(target)


def test_stop_file_ends_cleanly(engine: Path, tmp_path: Path, target: Path) -> None:
    document = endless(tmp_path, target)
    process = start(engine, tmp_path, document)
    wait_for_phase(document)
    Path(f"{document['records']}.stop").touch()
    done = finish(process, document)
    assert done.of("end")[0].status == "interrupted"
    assert untouched(target)


def test_killed_rank_ends_the_run_within_seconds(engine: Path, tmp_path: Path, target: Path) -> None:
    document = endless(tmp_path, target)
    process = start(engine, tmp_path, document)
    wait_for_phase(document)
    os.kill(rank_pids(engine, tmp_path / "plan.json")[-1], signal.SIGKILL)
    killed = time.monotonic()
    done = finish(process, document)
    assert time.monotonic() - killed < 15
    assert done.code != 0
    assert done.of("case")
    folder = target / f"ullage-{document['run_id']}"
    assert code_of([str(engine), "clean", str(folder)]) == 0
    assert untouched(target)


def test_clock_of_one_rank_five_seconds_ahead_is_calibrated_away(engine: Path, tmp_path: Path, target: Path) -> None:
    if code_of(["unshare", "--time", "--monotonic", "5", "true"]) != 0:
        pytest.skip("time namespaces are not permitted here")
    document = plan(tmp_path, [case()], f"posix:{target}")
    path = write(tmp_path, document)
    words, environment = command(engine, path, 2)
    at = words.index(str(engine))
    skewed = tmp_path / "skewed"
    skewed.write_text(
        "#!/bin/sh\n"
        'case "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" in 1) exec unshare --time --monotonic 5 "$@";; *) exec "$@";; esac\n'
    )
    skewed.chmod(0o755)
    process = subprocess.Popen(
        [*words[:at], str(skewed), *words[at:]],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    done = finish(process, document)
    assert done.code == 0, done.stderr
    assert "clock-skew" in done.codes()
    clock = done.of("run")[0].clock
    assert abs(abs(clock.largest_offset_ns) - 5_000_000_000) < 50_000_000
    assert clock.largest_offset_rank == 1
    write_phase = done.phase("write")
    assert write_phase.elapsed_ns < 3_000_000_000, "the five seconds must not be in the time of the phase"


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
    document = plan(
        tmp_path,
        [case(backend="mpiio", parameters={"collective": collective}, **words)],
        f"posix:{target}",
        watchdog_s=20.0,
    )
    done = run(engine, tmp_path, document)
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
    done = run(engine, tmp_path, plan(tmp_path, [case(backend="fault", parameters=slow, **words)], f"posix:{target}"))
    assert done.code == 0, done.stderr
    read = done.phase("read")
    assert read.operations > 2 * 16
    assert 0 < read.verified_bytes <= read.bytes


def test_keep_leaves_the_last_dataset_and_clean_removes_it(engine: Path, tmp_path: Path, target: Path) -> None:
    twice = {"name": "fixed", "parameters": {"count": 2}}
    document = plan(tmp_path, [case()], f"posix:{target}", keep=True, stop_rule=twice)
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
    folder = target / f"ullage-{document['run_id']}"
    kept = sorted(path.stat().st_size for path in folder.glob("c-*/data.*"))
    assert kept == [MIB, MIB]
    assert code_of([str(engine), "clean", str(folder)]) == 0
    assert untouched(target)


def test_full_verification_longer_than_the_watchdog_is_progress(engine: Path, tmp_path: Path, target: Path) -> None:
    slow = {"inner": "posix", "kind": "delay", "operation": "read", "delay_s": 0.1, "count": 0}
    words = {"transfer_bytes": MIB, "block_bytes": 16 * MIB, "verify": "full"}
    document = plan(tmp_path, [case(backend="fault", parameters=slow, **words)], f"posix:{target}", watchdog_s=0.8)
    done = run(engine, tmp_path, document)
    assert done.code == 0, done.stderr
