# SPDX-License-Identifier: Apache-2.0
"""A command ends with all that it has started, whoever ends first: it, its supervisor, or we."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ullage.processes.supervised import Supervised
from ullage.processes.supervisor import Ending, descendants, mapped_segments, remove_noted, remove_own

# Two generations beyond the leader, each in a session of its own, whose parents end at once: like a daemon's.
DAEMON = "setsid setsid sh -c 'echo $$ > {pid}; exec sleep 300' & "


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def wait_until(happens: Callable[[], bool], timeout_s: float = 30) -> None:
    deadline = time.monotonic() + timeout_s
    while not happens():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def number_in(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def test_its_exit_code_and_its_signal_are_told() -> None:
    for script, code in (("exit 7", 7), ("kill -9 $$", -9)):
        with Supervised.start(["sh", "-c", script]) as started:
            wait_until(lambda: started.poll() is not None)
        assert started.poll() == code


def test_what_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        Supervised.start(["/no/such/program"])
    with pytest.raises(PermissionError):
        Supervised.start(["/dev/null"])


def test_a_family_in_other_sessions_ends_with_its_leader(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = DAEMON.format(pid=pid) + f"while [ ! -s {pid} ]; do sleep 0.02; done; echo said"
    with Supervised.start(["sh", "-c", script], out=subprocess.PIPE) as started:
        out, _ = started.process.communicate(timeout=30)
    assert out == b"said\n"
    assert started.poll() == 0
    assert not is_alive(number_in(pid))


@pytest.mark.parametrize("end", [Supervised.end, Supervised.kill])
def test_a_family_ends_with_the_call_that_ends_it(tmp_path: Path, end: Callable[[Supervised], None]) -> None:
    pid = tmp_path / "pid"
    started = Supervised.start(["sh", "-c", DAEMON.format(pid=pid) + "trap '' TERM; sleep 300"], Ending(grace_s=0.2))
    daemon = number_in(pid)
    end(started)
    assert not is_alive(daemon)
    assert not is_alive(started.pid)
    assert started.poll() == -signal.SIGKILL


def test_it_is_asked_first(tmp_path: Path) -> None:
    ready, asked = tmp_path / "ready", tmp_path / "asked"
    script = f"trap 'touch {asked}; exit 3' TERM; touch {ready}; while :; do sleep 0.02; done"
    started = Supervised.start(["sh", "-c", script], Ending(grace_s=30))
    wait_until(ready.exists)
    started.end()
    assert asked.exists()
    assert started.poll() == 3


def test_a_family_ends_when_we_are_killed(tmp_path: Path) -> None:
    pid, ours = tmp_path / "pid", tmp_path / "ours"
    program = (
        "import sys, time\nfrom ullage.processes.supervised import *\n"
        "one = Supervised.start(['sh', '-c', sys.argv[1]], Ending(grace_s=0.2))\n"
        "open(sys.argv[2], 'w').write(f'{one.pid}\\n')\ntime.sleep(300)"
    )
    words = [sys.executable, "-c", program, DAEMON.format(pid=pid) + "trap '' TERM; sleep 300", str(ours)]
    front = subprocess.Popen(words)
    try:
        daemon, leader = number_in(pid), number_in(ours)
    finally:
        front.kill()
        front.wait()
    wait_until(lambda: not is_alive(daemon) and not is_alive(leader))


def test_the_command_ends_when_its_supervisor_is_killed() -> None:
    with Supervised.start(["sleep", "300"]) as started:
        started.process.kill()
        wait_until(lambda: not is_alive(started.pid))
        assert started.poll() == -signal.SIGKILL


def test_its_folder_is_removed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = 'mkdir -p "$TMPDIR/mine.h.0/pid.$$/deep" "$TMPDIR/mine.h.0/pid.1"; ln -s / "$TMPDIR/mine.h.1"; sleep 300'
    started = Supervised.start(["sh", "-c", script], Ending(folders=("mine.*/pid.{pid}",)))
    wait_until((tmp_path / "mine.h.1").is_symlink)
    assert (tmp_path / f"mine.h.0/pid.{started.pid}/deep").is_dir()
    started.kill()
    assert not (tmp_path / f"mine.h.0/pid.{started.pid}").exists()
    assert (tmp_path / "mine.h.0/pid.1").is_dir()
    assert (tmp_path / "mine.h.1").is_symlink()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    precious, place = tmp_path / "precious", tmp_path / "place"
    (precious / "pid.5").mkdir(parents=True)
    place.mkdir()
    (place / "pid.5").symlink_to(precious / "pid.5")
    remove_own(place, "pid.5")
    assert (place / "pid.5").is_symlink()
    assert (precious / "pid.5").is_dir()


MAPPER = """
import mmap, os, sys, time
for path in sys.argv[2:]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.ftruncate(handle, 4096)
    kept = [*globals().get("kept", []), mmap.mmap(handle, 4096)]
print(flush=True)
time.sleep(300)
"""


def test_segments_of_its_own_are_removed_and_no_others() -> None:
    mine, foreign, other = (f"ullage-test-{word}.{os.getpid()}" for word in ("mine", "foreign", "other"))
    paths = [Path("/dev/shm") / name for name in (mine, foreign, other)]
    pattern = f"ullage-test-[mf]*.{os.getpid()}"
    try:
        paths[1].touch(0o600)
        words = [sys.executable, "-c", MAPPER, "x", str(paths[0]), str(paths[2])]
        started = Supervised.start(words, Ending(segments=(pattern,)), out=subprocess.PIPE)
        assert started.process.stdout is not None
        assert started.process.stdout.readline() == b"\n"
        assert mapped_segments([started.pid], [pattern]) == {mine}
        started.kill()
        assert [path.exists() for path in paths] == [False, True, True]
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


def test_descendants_are_those_below_a_process() -> None:
    with Supervised.start(["sh", "-c", "sleep 300 & wait"]) as started:
        wait_until(lambda: len(descendants(started.pid)) == 1)
        assert descendants(started.process.pid)[0] == started.pid
        assert os.getpid() not in descendants(started.process.pid)


@pytest.fixture
def segment() -> Iterator[Path]:
    path = Path("/dev/shm") / f"ullage-test-{os.getpid()}"
    path.write_bytes(bytes(4096))
    yield path
    path.unlink(missing_ok=True)


def ledger_of(segment: Path, folder: Path) -> dict[str, object]:
    """The ledger of a supervisor that ran a command with that segment, and was killed with it."""
    path = folder / "ledger"
    script = f"import mmap,time; f=open('{segment}','rb'); m=mmap.mmap(f.fileno(),0,prot=1); time.sleep(300)"
    words = [sys.executable, "-c", script]
    with Supervised.start(words, Ending(segments=(segment.name,), ledger=str(path))) as started:
        wait_until(lambda: path.exists() and segment.name in path.read_text())
        started.process.kill()
        wait_until(lambda: not is_alive(started.pid))
    return json.loads(path.read_text())


def test_a_supervisor_that_is_killed_leaves_a_ledger_of_what_is_to_be_removed(segment: Path, tmp_path: Path) -> None:
    noted = ledger_of(segment, tmp_path)
    session = tmp_path / f"mpi.{os.geteuid()}" / f"pid.{noted['pid']}"
    session.mkdir(parents=True)
    text = json.dumps(noted | {"folder": str(tmp_path)})
    assert remove_noted(text, ["mpi.{uid}/pid.{pid}"], [segment.name])
    assert not segment.exists()
    assert not session.parent.exists()


def test_a_ledger_removes_nothing_but_what_is_proved_to_be_of_its_launch(segment: Path, tmp_path: Path) -> None:
    noted = ledger_of(segment, tmp_path)
    foreign = tmp_path / "precious"
    foreign.mkdir()
    doubtful: list[dict[str, object]] = [
        {"segments": {segment.name: 1}},
        {"segments": {f"../shm/{segment.name}": segment.stat().st_ino}},
        {"segments": {}, "folder": str(foreign)},
        {"pid": os.getpid()},
        {"place": "another start"},
    ]
    for changes in doubtful:
        remove_noted(json.dumps(noted | changes), ["pid.{pid}"], ["ullage-test-*", "*"])
    remove_noted(json.dumps(noted), [], ["vader_segment.*"])
    for damaged in ("", "[]", "{}", "[" * 100_000, json.dumps(noted | {"segments": 7})):
        assert remove_noted(damaged, [], ["*"])
    assert segment.exists()
    assert foreign.exists()


def test_a_supervisor_that_ends_well_leaves_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with Supervised.start(["true"], Ending(segments=("none-*",), ledger=str(path))) as started:
        wait_until(lambda: started.poll() is not None)
    assert not path.exists()
