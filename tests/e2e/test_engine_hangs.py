# SPDX-License-Identifier: Apache-2.0
"""What hangs outside the timer, and ranks that are stopped whole: each ends the run by the limit of its stage."""

import contextlib
import os
import platform
import re
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest
from tests.e2e.launching import MIB, Document, case, code_of, finish, plan, run, start, write
from tests.e2e.test_engine_ends import endless, rank_pids, wait_for_phase
from tests.places.fuse import passthrough
from tests.places.loop_disk import loop_disk

from ullage.engine import describe
from ullage.errors import EXIT_ABORTED
from ullage.launch import choose_launcher
from ullage.launch.process import Timeouts, launch
from ullage.model.plan import Plan

# A rank is silent after five seconds; the rest is for a machine that is busy.
LONGEST_S = 90.0


@pytest.mark.each_mpi
@pytest.mark.fault(
    "a rank that is stopped whole (SIGSTOP)", "end status timeout within the limit; the rank named, true counts"
)
@pytest.mark.parametrize("stopped", [0, 1])
def test_a_stopped_rank_ends_the_run_and_is_named(engine: Path, tmp_path: Path, target: Path, stopped: int) -> None:
    """Rank 0 keeps the records: then another one writes their end."""
    document = endless(tmp_path, target) | {"watchdog_s": 5.0, "time_budget_s": 5400.0}
    process = start(engine, tmp_path, document)
    wait_for_phase(document)
    pids = {pid: rank_of(pid) for pid in rank_pids(engine, tmp_path / "plan.json")}
    os.kill(next(pid for pid, rank in pids.items() if rank == stopped), signal.SIGSTOP)
    before = time.monotonic()
    done = finish(process, document, timeout_s=LONGEST_S)
    assert time.monotonic() - before < LONGEST_S
    event = next(event for event in done.of("event") if event.code == "timeout")
    assert event.rank == stopped, event.text
    assert re.search(r"gave no sign of life( for 5 s)?: it is stopped", event.text)
    end = done.of("end")[0]
    assert end.status == "timeout"
    good = {record.case for record in done.of("case") if record.status == "ok"}
    bad = {record.case for record in done.of("case") if record.status == "timeout"}
    assert end.cases_ok == len(good - bad) > 0
    # Rank 0 may have been stopped between writing a record and telling the others.
    assert sum(record.status == "ok" for record in done.of("case")) - end.repetitions in {0, 1}


def rank_of(pid: int) -> int:
    """By the environment that its launcher gave it."""
    for item in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
        name, _, value = item.partition(b"=")
        if name in (b"PMI_RANK", b"OMPI_COMM_WORLD_RANK"):
            return int(value)
    pytest.fail(f"process {pid} has no rank")


@pytest.mark.each_mpi
@pytest.mark.fault(
    "all ranks are stopped whole (SIGSTOP)",
    "the front ends the launch within the limit and names them; no process left",
)
def test_a_launch_whose_every_rank_is_stopped_is_ended_by_the_front(engine: Path, tmp_path: Path, target: Path) -> None:
    document = endless(tmp_path, target) | {"watchdog_s": 5.0, "time_budget_s": 5400.0, "layout": {"ranks": 1}}
    path = write(tmp_path, document)

    def stop() -> None:
        wait_for_phase(document, timeout_s=60)
        for pid in rank_pids(engine, path):
            os.kill(pid, signal.SIGSTOP)

    helper = threading.Thread(target=stop)
    helper.start()
    before = time.monotonic()
    outcome = launch(
        engine,
        choose_launcher(describe(engine)),
        path,
        Plan.model_validate_json(path.read_text()),
        tmp_path / "stderr",
        timeouts=Timeouts(stop_grace_s=600.0),
    )
    helper.join()
    assert time.monotonic() - before < LONGEST_S
    assert (outcome.stopped_by, outcome.code, outcome.stopped_ranks) == ("silent", EXIT_ABORTED, [0])
    assert rank_pids(engine, path) == []
    assert not list(tmp_path.glob("*.alive"))


@pytest.mark.fault(
    "a file system (FUSE) that never answers", "end status timeout within the limit; the step named, true counts"
)
@pytest.mark.parametrize(
    ("hang", "step"),
    [
        ("fsync:.ullage-run", "prepare target 't'"),
        ("fsync:manifest.ndjson", "begin: make directory"),
        ("unlink:data.00000001", "remove: remove own files"),
        ("unlink:manifest.ndjson", "remove the folder at target 't'"),
    ],
)
def test_a_file_system_that_never_answers_is_a_timeout_of_its_step(
    engine: Path, tmp_path: Path, hang: str, step: str
) -> None:
    with passthrough(tmp_path, hang) as served:
        done = run(
            engine, tmp_path, plan(tmp_path, [case()], f"posix:{served.mount}", watchdog_s=4.0), timeout_s=LONGEST_S
        )
    event = next(event for event in done.of("event") if event.code == "timeout")
    assert f"made no progress for 4 s in {step}" in event.text
    end = done.of("end")[0]
    good = {record.case for record in done.of("case") if record.status == "ok"}
    assert (end.status, end.cases_ok) == ("timeout", len(good))
    assert end.cases_failed == (step.startswith(("begin", "remove: ")))


@pytest.mark.fault(
    "a rank that hangs where a phase is made (its memory is never given)",
    "end status timeout within the limit; rank and step named",
)
def test_a_rank_that_hangs_where_a_phase_is_made_is_named(
    engine: Path, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hang_at_bytes(tmp_path, monkeypatch, rank=1, size=32 * MIB)
    document = plan(
        tmp_path, [case(), case(transfer_bytes=32 * MIB, block_bytes=32 * MIB)], f"posix:{target}", watchdog_s=4.0
    )
    done = run(engine, tmp_path, document, timeout_s=LONGEST_S)
    assert done.code == EXIT_ABORTED, done.stderr
    event = next(event for event in done.of("event") if event.code == "timeout")
    assert re.fullmatch(r"rank 1 on \S+ made no progress for 4 s in make phase", event.text), event.text
    end = done.of("end")[0]
    assert (end.status, end.cases_ok, end.cases_failed) == ("timeout", 1, 1)


def hang_at_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rank: int, size: int) -> None:
    """Let a rank of whatever is started from here hang when it asks for that much memory at once."""
    library = tmp_path / "hanging_map.so"
    source = Path(__file__).parents[1] / "support" / "hanging_map.c"
    if shutil.which("cc") is None or code_of(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]) != 0:
        pytest.skip("not available: a compiler of C")
    monkeypatch.setenv("LD_PRELOAD", ":".join(filter(None, (str(library), os.environ.get("LD_PRELOAD", "")))))
    monkeypatch.setenv("ULLAGE_HANGING_RANK", str(rank))
    monkeypatch.setenv("ULLAGE_HANGING_BYTES", str(size))


@pytest.mark.long
@pytest.mark.fault(
    "a disk that stops answering in a sync", "timeout after --watchdog without write-back, however much was written"
)
def test_a_disk_that_stops_in_a_sync_is_a_hang_by_the_watchdog(engine: Path, tmp_path: Path) -> None:
    """At 10 MB/s the volume would take 26 s."""
    volume = 256 * MIB
    with loop_disk(tmp_path, 4 * volume) as disk:
        document = plan(
            tmp_path,
            [case(transfer_bytes=MIB, block_bytes=volume, phases=["write"])],
            f"posix:{disk.mount}",
            ranks=1,
            watchdog_s=5.0,
            limits={"reserve_bytes": 0, "space_fraction": 1},
            stop_rule={"name": "fixed", "parameters": {"count": 20}},
        )
        process = start(engine, tmp_path, document)
        _wait_for_sync(engine, tmp_path / "plan.json", disk.mount, document, volume)
        disk.process.send_signal(signal.SIGSTOP)
        path = Path(str(document["records"]))
        deadline = time.monotonic() + LONGEST_S
        while '"kind":"end"' not in path.read_text() and time.monotonic() < deadline:
            time.sleep(0.1)
        disk.process.send_signal(signal.SIGCONT)  # whoever waits for a disk cannot be ended
        done = finish(process, document)
    event = next(event for event in done.of("event") if event.code == "timeout")
    assert event.text.endswith("made no progress for 5 s in write: sync")


def _wait_for_sync(engine: Path, path: Path, mount: Path, document: Document, volume: int) -> None:
    """Until the rank has written everything and waits in fsync(2)."""
    number = {"x86_64": "74", "aarch64": "82"}.get(platform.machine())
    if number is None:
        pytest.skip("not available: the number of fsync(2) on this machine")
    wait_for_records(document)
    pids = rank_pids(engine, path)
    deadline = time.monotonic() + LONGEST_S
    while pids and time.monotonic() < deadline:
        with contextlib.suppress(OSError):  # a repetition ends, and another begins
            written = [file.stat().st_size for file in mount.glob("ullage-*/*/data*")]
            if written == [volume] and Path(f"/proc/{pids[0]}/syscall").read_text().split()[0] == number:
                return
        time.sleep(0.002)
    pytest.fail("no rank was seen in a sync")


def wait_for_records(document: Document) -> None:
    """Until the launch has begun to write them."""
    path = Path(str(document["records"]))
    deadline = time.monotonic() + LONGEST_S
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
