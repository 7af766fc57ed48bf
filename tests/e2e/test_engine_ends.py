# SPDX-License-Identifier: Apache-2.0
"""Runs that hang, are stopped or lose a rank: all is flushed, nothing is left that clean cannot remove."""

import os
import shlex
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.launching import (
    KIB,
    Document,
    case,
    cleaned,
    code_of,
    command,
    finish,
    plan,
    popen,
    run,
    start,
    untouched,
    write,
)

if TYPE_CHECKING:
    import subprocess


@pytest.mark.each_mpi
@pytest.mark.fault(
    "a call that never returns", "end status timeout, the rank named, records flushed; clean empties the target"
)
def test_hang_becomes_a_timeout_with_everything_flushed(engine: Path, tmp_path: Path, target: Path) -> None:
    fault = {"inner": "posix", "kind": "hang", "operation": "write", "rank": 1, "after": 2}
    document = plan(tmp_path, [case(backend="fault", parameters=fault)], f"posix:{target}", watchdog_s=5.0)
    done = run(engine, tmp_path, document)
    assert done.code != 0
    assert done.of("end")[0].status == "timeout"
    event = next(event for event in done.of("event") if event.code == "timeout")
    assert event.rank == 1
    assert event.node
    folder = target / f"ullage-{document['run_id']}"
    assert cleaned(engine, folder)
    assert untouched(target)


def wait_for_phase(document: Document, timeout_s: float = 60) -> None:
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


def endless(tmp_path: Path, target: Path) -> Document:
    return plan(
        tmp_path, [case(), case()], f"posix:{target}", stop_rule={"name": "fixed", "parameters": {"count": 1000000}}
    )


@pytest.mark.each_mpi
@pytest.mark.fault(
    "SIGTERM, SIGINT, SIGUSR1 at a rank",
    "the repetition is finished, end status interrupted, target empty but for what was there",
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_signal_at_the_ranks_ends_cleanly(engine: Path, tmp_path: Path, target: Path, number: signal.Signals) -> None:
    document = endless(tmp_path, target)
    process = start(engine, tmp_path, document)
    wait_for_phase(document)
    os.kill(rank_pids(engine, tmp_path / "plan.json")[0], number)
    done = finish(process, document)
    assert done.of("end")[0].status == "interrupted"
    assert done.code != 0
    assert untouched(target)


@pytest.mark.each_mpi
@pytest.mark.fault(
    "the stop file of a batch script",
    "the repetition is finished, end status interrupted, target empty but for what was there",
)
def test_stop_file_ends_cleanly(engine: Path, tmp_path: Path, target: Path) -> None:
    document = endless(tmp_path, target)
    process = start(engine, tmp_path, document)
    wait_for_phase(document)
    Path(f"{document['records']}.stop").touch()
    done = finish(process, document)
    assert done.of("end")[0].status == "interrupted"
    assert untouched(target)


@pytest.mark.each_mpi
@pytest.mark.fault("a rank is killed (SIGKILL)", "the launch ends within seconds; clean empties the target")
def test_killed_rank_ends_the_run_within_seconds(engine: Path, tmp_path: Path, target: Path) -> None:
    document = endless(tmp_path, target)
    process = start(engine, tmp_path, document)
    wait_for_phase(document)
    os.kill(rank_pids(engine, tmp_path / "plan.json")[-1], signal.SIGKILL)
    killed = time.monotonic()
    done = finish(process, document)
    assert time.monotonic() - killed < 60, "half of what its watchdog would wait"
    assert done.code != 0
    assert done.of("case")
    assert cleaned(engine, target / f"ullage-{document['run_id']}")
    assert untouched(target)


def start_rank_one_by(prefix: list[str], engine: Path, tmp_path: Path, document: Document) -> "subprocess.Popen[str]":
    """Start two ranks of a plan, the second of them by the command ``prefix``."""
    words, environment = command(engine, write(tmp_path, document), 2)
    at = words.index(str(engine))
    script = tmp_path / "by-rank"
    script.write_text(
        "#!/bin/sh\n"
        f'case "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" in 1) exec {shlex.join(prefix)} "$@";; *) exec "$@";; esac\n'
    )
    script.chmod(0o755)
    return popen([*words[:at], str(script), *words[at:]], environment)


@pytest.mark.each_mpi
@pytest.mark.fault("the clock of a rank is ten minutes ahead", "no time in the records shows it")
def test_clock_of_one_rank_ten_minutes_ahead_is_calibrated_away(engine: Path, tmp_path: Path, target: Path) -> None:
    if code_of(["unshare", "--time", "--monotonic", "5", "true"]) != 0:
        pytest.skip("time namespaces are not permitted here")
    document = plan(tmp_path, [case()], f"posix:{target}")
    process = start_rank_one_by(["unshare", "--time", "--monotonic", "600"], engine, tmp_path, document)
    done = finish(process, document)
    assert done.code == 0, done.stderr
    assert "clock-skew" in done.codes()
    clock = done.of("run")[0].clock
    assert abs(abs(clock.largest_offset_ns) - 600_000_000_000) <= clock.residual_ns
    assert clock.largest_offset_rank == 1
    write_phase = done.phase("write")
    assert write_phase.elapsed_ns < 300_000_000_000, "the ten minutes must not be in the time of the phase"
    assert write_phase.clock is not None, "two clocks"
    assert write_phase.clock.residual_ns > 0
    assert not write_phase.clock.jumped


# Clocks are compared in 1 % of the time: on a busy machine not after each phase.
@pytest.mark.undisturbed
@pytest.mark.fault(
    "the clock of a rank steps three seconds ahead in mid-phase", "the phase says that a clock jumped, and how far off"
)
def test_a_clock_that_steps_is_said_with_the_phase(engine: Path, tmp_path: Path, target: Path) -> None:
    if code_of(["unshare", "--time", "--monotonic", "5", "true"]) != 0:
        pytest.skip("time namespaces are not permitted here")
    library = tmp_path / "stepping.so"
    source = Path(__file__).parents[1] / "places" / "stepping_clock.c"
    # The phase takes 13 s at least, so the step falls into it even where the launch takes some seconds.
    if code_of(["cc", "-O2", "-DAFTER_S=7", "-shared", "-fPIC", "-o", str(library), str(source)]) != 0:
        pytest.skip("there is no compiler of C")
    slow = {"inner": "posix", "kind": "delay", "operation": "write", "delay_s": 0.2, "count": 0}
    written = case(backend="fault", parameters=slow, block_bytes=64 * 64 * KIB, phases=["write"])
    # Ranks of one clock are known by their time namespace, and then no clock is looked at again.
    own_clock = ["unshare", "--time", "--monotonic", "5", "env", f"LD_PRELOAD={library}"]
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        document = plan(folder, [written], f"posix:{target}")
        done = finish(start_rank_one_by(own_clock, engine, folder, document), document)
        assert done.code == 0, done.stderr
        clock = done.phase("write").clock
        assert clock is not None
        if clock.measured != "before":
            break
    assert clock.jumped
    assert 2_500_000_000 < clock.residual_ns < 4_000_000_000
