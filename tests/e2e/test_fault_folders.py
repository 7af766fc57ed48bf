# SPDX-License-Identifier: Apache-2.0
"""Run folders that somebody moves, or mounts another file system on, while a run is at work in them."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import Process, command, run, start_and_act
from tests.e2e.launching import KIB, Document, case, code_of, plan

from ullage.errors import EXIT_CASE_FAILED, EXIT_ENVIRONMENT, EXIT_OK


def slow(tmp_path: Path, target: Path, **words: object) -> Document:
    """A plan whose second case waits until the first one's end is recorded: a second of small operations."""
    parameters: Document = {"inner": "posix", "kind": "delay", "operation": "write", "count": 0, "delay_s": 0.3}
    cases = [case("fault", parameters, block_bytes=20 * 64 * KIB, **words)]
    return plan(tmp_path, cases, f"posix:{target}", ranks=1)


def when_it_writes(process: "subprocess.Popen[str]", folder: Path) -> None:
    """Wait until the run has begun to write a file in its folder."""
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in folder.glob("c-*/data*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder of somebody else, with names as ours."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name in ("data", "data.00000000", "manifest.ndjson"):
        (folder / name).write_text("do not touch")
    return folder


@pytest.fixture
def mounted(foreign: Path) -> Iterator[list[Path]]:
    """Paths on which a test has mounted ``foreign``."""
    points: list[Path] = []
    yield points
    for point in points:
        subprocess.run(["umount", "-l", str(point)], check=False)
    assert {path.read_text() for path in foreign.iterdir()} == {"do not touch"}


def mount(foreign: Path, point: Path, mounted: list[Path]) -> None:
    """Mount it there, with a bind mount, whose device is that of the run's own file system."""
    if code_of(["mount", "--bind", str(foreign), str(point)]) != 0:
        pytest.skip("mounting is not permitted here")
    mounted.append(point)


@pytest.mark.fault("a run's folder is moved in mid-run", "an event says where it is; clean removes it when it is back")
def test_a_folder_that_is_moved_is_told(engine: Path, tmp_path: Path, target: Path) -> None:
    document = slow(tmp_path, target)
    folder, moved = target / f"ullage-{document['run_id']}", target / "moved"
    process = launching.start(engine, tmp_path, document)
    when_it_writes(process, folder)
    folder.rename(moved)
    done = launching.finish(process, document)
    assert done.code == EXIT_OK, done.stderr
    left = [event.text for event in done.of("event") if event.code == "left-behind"]
    assert left == [f"{folder}: is no longer the folder that this run opened: it was moved to {moved}"]
    assert sorted(path.name for path in moved.iterdir()) == [".ullage-run", "manifest.ndjson"]
    moved.rename(folder)
    assert launching.cleaned(engine, folder)
    assert launching.untouched(target)


@pytest.mark.fault("a run's folder at its target is moved", "exit 3 and a line that says where it is; a report")
def test_a_run_whose_folder_is_moved_says_so(engine: Path, tmp_path: Path, target: Path) -> None:
    def move(_: Process) -> None:
        folder = next(target.glob("ullage-*"))
        folder.rename(target / "moved")

    result = tmp_path / "result"
    small = ["--block", "64K", "--volume", "256K", "--ranks", "1", "--max-repetitions", "100000"]
    asked = ["--target", f"x={target}", "--result", str(result), "--time", "8s", "--interval", "0.0001", *small]
    code, _, errors = start_and_act(command(engine, "run", "sweep", *asked), result, move)
    assert (code, errors.count("it was moved to")) == (EXIT_ENVIRONMENT, 1), errors
    assert (result / "report.html").is_file()


def test_a_library_does_not_open_by_a_path_that_leads_elsewhere(engine: Path, tmp_path: Path, target: Path) -> None:
    document = slow(tmp_path, target)
    document["cases"].append(case("mpiio"))
    document["order"] = "listed"
    folder, moved = target / f"ullage-{document['run_id']}", target / "moved"
    process = launching.start(engine, tmp_path, document)
    when_it_writes(process, folder)
    folder.rename(moved)
    folder.mkdir(mode=0o700)
    done = launching.finish(process, document)
    assert done.code == EXIT_CASE_FAILED, done.stderr
    said = [event.text for event in done.of("event") if event.code == "case-failed"]
    assert len(said) == 1, said
    assert "is no longer the folder that this run opened" in said[0]
    assert list(folder.iterdir()) == []


@pytest.mark.fault("somebody mounts on a run's folder, or in it", "nothing there is touched; clean ends it later")
@pytest.mark.parametrize("inner", [True, False], ids=["dataset", "folder"])
def test_what_is_mounted_on_a_folder_stays_as_it_is(
    engine: Path, tmp_path: Path, target: Path, foreign: Path, mounted: list[Path], inner: bool
) -> None:
    document = slow(tmp_path, target)
    folder = target / f"ullage-{document['run_id']}"
    process = launching.start(engine, tmp_path, document)
    when_it_writes(process, folder)
    try:
        mount(foreign, next(folder.glob("c-*")) if inner else folder, mounted)
    finally:
        done = launching.finish(process, document)
    said = [event.text for event in done.of("event") if event.severity != "info"]
    assert "another file system is mounted" in " ".join(said), said
    code, said_by_clean, _ = run(command(engine, "clean", str(target), "--yes"))
    assert (code, "mounted on" in said_by_clean) == (EXIT_ENVIRONMENT if inner else EXIT_OK, inner), said_by_clean
    assert code_of([str(engine), "clean", str(folder)]) != 0
    subprocess.run(["umount", str(mounted.pop())], check=True)
    assert launching.cleaned(engine, folder)
    assert launching.untouched(target)
