# SPDX-License-Identifier: Apache-2.0
"""A terminal that hangs up, a front and a launcher that are killed: what they have started ends, and leaves nothing."""

import contextlib
import os
import pty
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, Process, command, run, start_and_act

from ullage.cleaning import find_run_folders
from ullage.launch.running import LAUNCH_VARIABLE
from ullage.processes.supervisor import descendants, mapped_segments
from ullage.results.records import read_records


def endless(engine: Path, target: Path, result: Path) -> list[str]:
    """Repetitions of a few hundredths of a second on files, for a minute."""
    words = ["run", "sweep", "--target", f"files={target}", "--result", str(result), "--ranks", "2", "--block", "64K"]
    return command(
        engine, *words, "--volume", "8M", "--time", "60s", "--max-repetitions", "100000", "--interval", "0.01%"
    )


def launcher_of(front: int) -> int:
    """The child of the supervisor, which is one of the processes below the front."""
    below = descendants(front)
    supervisor = next(pid for pid in below if b"/supervisor.py" in Path(f"/proc/{pid}/cmdline").read_bytes())
    return descendants(supervisor)[0]


def processes_of(result: Path) -> list[int]:
    """Launchers and ranks that were started for ``result``, by their words and their environment."""
    found = list[int]()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(result) in words and f"{LAUNCH_VARIABLE}=".encode() in environment:
            found.append(int(entry.name))
    return found


def wait_until(happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S / 2
    while not happens():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def statuses(result: Path) -> list[str]:
    files = (read_records(path) for path in sorted((result / "records").glob("*.ndjson")))
    return [record.status for file in files for record in file.records if record.kind == "end"]


def segments_of(pid: int) -> set[Path]:
    """What libraries of MPI share memory by, below a process."""
    return {Path("/dev/shm") / name for name in mapped_segments(descendants(pid), ["*"])}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files with a short name: those of launchers' sockets have 107 characters at most."""
    with tempfile.TemporaryDirectory(prefix="u") as name:
        monkeypatch.setenv("TMPDIR", name)
        yield Path(name)


@pytest.mark.each_mpi
@pytest.mark.fault("a terminal that hangs up", "exit 5, a report, target empty, no process left")
def test_a_terminal_that_hangs_up_ends_the_run_with_a_report(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    ours, theirs = pty.openpty()
    words = ["setsid", "--ctty", "--wait", *endless(engine, target, result)]
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        drain_until(ours, lambda: list((result / "records").glob("*.ndjson")) and has_case(result))
        os.close(ours)
        assert process.wait(TIMEOUT_S) == 5
    finally:
        process.kill()
    assert statuses(result)[-1] == "interrupted"
    assert (result / "report.html").is_file()
    assert list(target.iterdir()) == []
    assert processes_of(result) == []


def has_case(result: Path) -> bool:
    """In the second launch: the first has the fewest repetitions only, and may be over when it is looked at."""
    second = result / "records" / "002.ndjson"
    return second.is_file() and b'"kind":"case"' in second.read_bytes()


def drain_until(terminal: int, happens: Callable[[], object]) -> None:
    """A terminal that nobody reads fills, and holds up who writes to it."""
    os.set_blocking(terminal, False)

    def drained() -> bool:
        with contextlib.suppress(BlockingIOError):
            os.read(terminal, 65536)
        return bool(happens())

    wait_until(drained)


@pytest.mark.fault("SIGHUP at the front, once or twice", "exit 5, a report, target empty, no process left")
# twice: as a shell and then the kernel do
@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.each_mpi)])
def test_sighup_ends_a_run_as_sigterm_does(engine: Path, target: Path, tmp_path: Path, times: int) -> None:
    result = tmp_path / "result"

    def act(process: Process) -> None:
        wait_until(lambda: has_case(result))
        for _ in range(times):
            process.send_signal(signal.SIGHUP)

    code, out, err = start_and_act(endless(engine, target, result), result, act)
    assert (code, out.splitlines()[-1]) == (5, str(result))
    assert "ullage: interrupted" in err
    assert statuses(result)[-1] == "interrupted"
    assert (result / "report.html").is_file()
    assert list(target.iterdir()) == []
    assert processes_of(result) == []


@pytest.mark.each_mpi
@pytest.mark.fault("SIGINT or SIGTERM at the front, twice", "exit 5 at once; target empty or listed; no process left")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_a_run_at_once(engine: Path, target: Path, tmp_path: Path, number: signal.Signals) -> None:
    result = tmp_path / "result"

    def act(process: Process) -> None:
        wait_until(lambda: has_case(result))
        for _ in range(2):
            process.send_signal(number)
            time.sleep(0.05)

    code, _, err = start_and_act(endless(engine, target, result), result, act)
    assert code == 5, err
    assert "Traceback" not in err
    assert processes_of(result) == []
    if list(target.iterdir()):
        assert f"`ullage clean {target}` removes it" in err
        assert run(command(engine, "clean", str(target), "--yes"))[0] == 0
    assert list(target.iterdir()) == []


@pytest.mark.each_mpi
@pytest.mark.fault(
    "the front is killed (SIGKILL)", "ranks end and remove their files; no segment, folder or process left"
)
def test_ranks_end_when_the_front_is_killed_and_remove_their_files(
    engine: Path, target: Path, tmp_path: Path, temporary: Path
) -> None:
    result = tmp_path / "result"
    segments = set[Path]()

    def act(process: Process) -> None:
        wait_until(lambda: has_case(result))
        segments.update(segments_of(process.pid))
        process.kill()

    code, _, _ = start_and_act(endless(engine, target, result), result, act)
    assert code == -signal.SIGKILL
    wait_until(lambda: not processes_of(result))
    wait_until(lambda: list(target.iterdir()) == [] or find_run_folders(target) != [])
    assert statuses(result)[-1] == "interrupted", "they were asked to end before they were killed"
    assert list(target.iterdir()) == []
    wait_until(lambda: list(temporary.iterdir()) == [] and not any(path.exists() for path in segments))


@pytest.mark.each_mpi
@pytest.mark.fault(
    "mpiexec is killed (SIGKILL)", "exit 5 and one line; target empty or listed; no segment, folder or process left"
)
def test_nothing_is_left_when_the_launcher_is_killed(
    engine: Path, target: Path, tmp_path: Path, temporary: Path
) -> None:
    result = tmp_path / "result"
    segments = set[Path]()

    def act(process: Process) -> None:
        segments.update(segments_of(process.pid))
        os.kill(launcher_of(process.pid), signal.SIGKILL)

    code, _, err = start_and_act(endless(engine, target, result), result, act)
    assert code == 5, err
    assert "ended early" in err
    assert processes_of(result) == []
    assert list(temporary.iterdir()) == []
    assert not any(path.exists() for path in segments)
    if list(target.iterdir()):
        assert f"`ullage clean {target}` removes it" in err
        assert run(command(engine, "clean", str(target), "--yes"))[0] == 0
        assert list(target.iterdir()) == []
