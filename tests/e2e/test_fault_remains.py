# SPDX-License-Identifier: Apache-2.0
"""What a run leaves that is killed as a whole, at its targets and of MPI, and what `ullage resume` makes of it."""

import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import TIMEOUT_S, command, run
from tests.e2e.launching import Document, untouched

from ullage.cleaning import MARKER, find_run_folders
from ullage.engine import describe
from ullage.errors import EXIT_OK
from ullage.launch import choose_launcher
from ullage.launch.running import LEDGER
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.progress import make_progress
from ullage.runs.remains import name_remains, remove_earlier
from ullage.runs.session import Session

TOKEN = "ULLAGE_TEST_OF_REMAINS"
_ONCE = ("--block", "64K", "--volume", "1M", "--min-repetitions", "2", "--max-repetitions", "2", "--time", "20s")


def sweep(engine: Path, result: Path, target: str, *words: str) -> None:
    """Run a sweep of one cell to its end."""
    named = ["run", "sweep", "--target", f"x={target}", "--ranks", "2", "--result", str(result), "--quiet"]
    code, _, errors = run(command(engine, *named, *_ONCE, *words))
    assert code == EXIT_OK, errors


def leave(engine: Path, result: Path, scratch: Path) -> None:
    """Leave what the first launch of ``result`` leaves when it is killed after its last case and before its removal."""
    document: Document = json.loads((result / "plans" / "001.json").read_text())
    document |= {"keep": True, "records": str(scratch / "records.ndjson")}
    done = launching.run(engine, scratch, document)
    assert done.code == EXIT_OK, done.stderr
    records = result / "records" / "001.ndjson"
    records.write_text("".join(line for line in records.read_text().splitlines(keepends=True) if '"end"' not in line))


def resumed(engine: Path, result: Path) -> str:
    """Go on with a run that has nothing left to measure; return what it says on stderr."""
    before = len(ResultFolder.open(result).launches())
    code, _, errors = run(command(engine, "resume", str(result), "--quiet"))
    assert code == EXIT_OK, errors
    assert len(ResultFolder.open(result).launches()) == before
    return errors


@pytest.mark.fault(
    "everything dies after the last needed repetition was recorded and before its files went",
    "resume, which has nothing to launch, removes them",
)
def test_a_resume_without_a_launch_finishes_removal(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    sweep(engine, result, str(target))
    leave(engine, result, tmp_path)
    assert list(target.rglob("data*"))
    assert resumed(engine, result) == ""
    assert untouched(target)


def test_what_a_run_was_to_keep_stays(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    sweep(engine, result, str(target), "--keep")
    kept = sorted(target.rglob("*"))
    assert resumed(engine, result) == ""
    assert sorted(target.rglob("*")) == kept != [target / "precious"]


@pytest.mark.fault(
    "data of a killed run that resume cannot remove", "named in one line and in the report; exit by what was measured"
)
def test_what_cannot_be_removed_is_named(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    sweep(engine, result, str(target))
    leave(engine, result, tmp_path)
    (folder,) = find_run_folders(target)
    with (folder.path / MARKER).open("rb") as marker:
        fcntl.flock(marker, fcntl.LOCK_EX)
        errors = resumed(engine, result)
    assert errors.startswith(f"ullage: data was left in {folder.path}: "), errors
    assert len(errors.splitlines()) == 1
    events = ResultFolder.open(result).read_summary().events
    assert [f"Data was left in {folder.path}" in one.text for one in events if one.kind == "left-behind"] == [True]
    assert resumed(engine, result) == ""
    assert untouched(target)


def test_data_that_an_interrupted_run_has_left_is_named_with_the_command_that_removes_it(
    engine: Path, tmp_path: Path, target: Path
) -> None:
    result = tmp_path / "result"
    sweep(engine, result, str(target))
    leave(engine, result, tmp_path)
    (folder,) = find_run_folders(target)
    context = EngineContext(engine, describe(engine))
    session = Session(
        ResultFolder.open(result), context, choose_launcher(context.description), make_progress(quiet=True)
    )
    name_remains(session)
    removing = f"`ullage clean {target} --run {folder.run_id} --yes` removes it"
    assert session.messages == [f"data was left in {folder.path}; {removing}"]
    code, _, errors = run(command(engine, *removing.split("`")[1].split()[1:]))
    assert (code, find_run_folders(target)) == (EXIT_OK, []), errors
    session.messages.clear()
    name_remains(session)
    assert session.messages == []


def test_every_folder_of_a_target_that_ranks_expand_is_emptied(engine: Path, tmp_path: Path, target: Path) -> None:
    result, folders = tmp_path / "result", [target / "0", target / "1"]
    for folder in folders:
        folder.mkdir()
    sweep(engine, result, f"{target}/{{rank}}", "--file", "per-process")
    leave(engine, result, tmp_path)
    assert all(list(folder.rglob("data*")) for folder in folders)
    assert resumed(engine, result) == ""
    assert [list(folder.iterdir()) for folder in folders] == [[], []]


@pytest.mark.each_mpi
def test_what_a_part_has_left_goes_with_the_whole(engine: Path, tmp_path: Path, target: Path) -> None:
    part, description = tmp_path / "result" / "parts" / "sweep", describe(engine)
    sweep(engine, part, str(target))
    leave(engine, part, tmp_path)
    own = ResultFolder.open(part).read_request()
    whole = ResultFolder(part.parent.parent)
    whole.write_request(own.model_copy(update={"run_id": "whole", "suite": "overview", "options": {}}))
    context = EngineContext(engine, description)
    session = Session(whole, context, choose_launcher(description), make_progress(quiet=True))
    assert list(target.rglob("data*"))
    remove_earlier(session)
    assert session.messages == []
    assert untouched(target)


def ours(token: str) -> list[int]:
    """Return all processes with ``token`` in their environment."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"{TOKEN}={token}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT_S / 2
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.fault(
    "SIGKILL of all processes of a run at once, mpiexec and supervisor among them",
    "resume removes the data, and MPI's segments in /dev/shm and session folders",
)
def test_what_mpi_leaves_of_a_launch_that_is_killed_as_a_whole_is_removed(
    engine: Path, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, folder = tmp_path / "result", tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    words = ["run", "sweep", "--target", f"x={target}", "--ranks", "2", "--block", "64K", "--volume", "1M"]
    words += ["--min-repetitions", "4", "--max-repetitions", "4", "--backend", "fault", "--param", "fault.kind=delay"]
    words += ["--param", "fault.delay_s=0.5", "--time", "60s", "--result", str(result), "--quiet"]
    with subprocess.Popen(
        command(engine, *words), env={**os.environ, TOKEN: folder.name}, stdout=subprocess.DEVNULL
    ) as process:
        until(lambda: '"case"' in "".join(path.read_text() for path in (result / "records").glob("*.ndjson")))
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in ours(folder.name):
                os.kill(pid, number)
        process.wait(TIMEOUT_S)
    until(lambda: not ours(folder.name))
    (ledger,) = (result / "engine").glob(f"*{LEDGER}")
    segments = [Path("/dev/shm") / name for name in json.loads(ledger.read_text())["segments"]]
    assert segments or list(folder.iterdir()) or os.environ.get("ULLAGE_MPI", "openmpi") != "openmpi"
    code, _, errors = run(command(engine, "resume", str(result), "--quiet"))
    assert code == EXIT_OK, errors
    assert not any(path.exists() for path in segments)
    assert [path for path in folder.iterdir() if path.name.startswith(("ompi.", "prterun."))] == []
    assert list((result / "engine").glob(f"*{LEDGER}")) == []
    assert untouched(target)
