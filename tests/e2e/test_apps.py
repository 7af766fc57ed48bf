# SPDX-License-Identifier: Apache-2.0
"""Suite ``apps`` on real files with the real engine: one page, a kill in mid-run, and a target that fills up."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, command, finish, run, start, start_and_act
from tests.e2e.launching import cleaned, untouched
from tests.e2e.test_fault_resume import kill_a_rank, records_of
from tests.places.loop_image import loop_image

from ullage.cleaning import find_run_folders
from ullage.results.folder import ResultFolder
from ullage.suites.apps.suite import SMALL, rates_of


def test_every_kernel_is_measured_and_shown_on_one_page(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "apps", "--target", f"here={target}", "--time", "25s", "--ceiling", "here=1TB/s"]
    code, out, err = run(command(engine, *words, "--result", str(result)))
    # On a busy machine some do not fit into the time.
    assert code in (0, 5), err
    assert len(out.splitlines()) <= 45
    for _ in range(4):
        if all(part.status == "complete" for part in ResultFolder.open(result).read_summary().parts):
            break
        code, _, err = run(command(engine, "resume", str(result), "--time", "60s"))
        assert code in (0, 2, 5), err
    summary = ResultFolder.open(result).read_summary()
    assert {part.suite: part.status for part in summary.parts} == dict.fromkeys(SMALL, "complete")
    rates = rates_of(summary.rows, SMALL)
    assert {row.suite for row in rates} == set(SMALL) - {"overlap"}, "which has shares, and no rate of a pattern"
    assert all(row.share is not None for row in rates if row.suite == "pio")
    assert "Classes of access patterns" in (result / "report.html").read_text()
    assert not list(target.glob("ullage-*"))


def test_kernels_that_cannot_run_are_named_and_the_others_run(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    words = [
        "run",
        "apps",
        "--target",
        "m=memory:",
        "--without",
        ",".join(SMALL.keys() - {"spio", "tile"}),
        "--time",
        "20s",
    ]
    code, out, err = run(command(engine, *words, "--result", str(result)))
    # The code of the part that was refused.
    assert code == 2, (out, err)
    assert "not measured: tile" in out
    found = {part.suite: part for part in ResultFolder.open(result).read_summary().parts}
    assert found["spio"].status == "complete"
    assert found["tile"].status == "not available"
    assert "has neither views of files nor arrays" in found["tile"].reason


def only(*kernels: str) -> list[str]:
    """The words that leave out all other kernels."""
    return ["--without", ",".join(name for name in SMALL if name not in kernels)]


def statuses(result: Path) -> dict[str, str]:
    """How each part has ended."""
    return {part.suite: part.status for part in ResultFolder.open(result).read_summary().parts}


@pytest.mark.fault(
    "SIGKILL of a rank of a kernel of suite apps, then resume",
    "the other kernels run on; resume finishes the killed one",
)
def test_a_killed_kernel_stops_no_other_and_is_finished_by_resume(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    part = result / "parts" / "bdcats"
    words = ["run", "apps", "--target", f"here={target}", "--time", "20s", *only("flash", "bdcats")]

    def kill(process: subprocess.Popen[str]) -> None:
        kill_a_rank(process, part, engine)

    code, _, err = start_and_act(command(engine, *words, "--result", str(result)), part, kill)
    assert code == 5, err
    assert statuses(result) == {"flash": "complete", "bdcats": "interrupted"}
    before = {name: records_of(result / "parts" / name) for name in statuses(result)}
    code, _, err = run(command(engine, "resume", str(result)))
    assert code == 0, err
    assert set(statuses(result).values()) == {"complete"}
    after = {name: records_of(result / "parts" / name) for name in before}
    assert not before["bdcats"] - after["bdcats"], "a record is lost"
    assert set(after["bdcats"].values()) == {1}
    assert after["flash"] == before["flash"], "it was complete"
    for folder in find_run_folders(target):
        assert cleaned(engine, folder.path)
    assert untouched(target)


def fill(path: Path) -> None:
    """Make a file that takes all space that there is."""
    with path.open("wb") as file:
        at = 0
        for size in (1 << 28, 1 << 24, 1 << 20, 1 << 12):
            with contextlib.suppress(OSError):
                while True:
                    os.posix_fallocate(file.fileno(), at, size)
                    at += size


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait while the program lives."""
    deadline = time.monotonic() + TIMEOUT_S / 2
    while not is_so():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.01)


@pytest.mark.fault(
    "a disk that is full while a kernel of suite apps runs", "that kernel fails, the others run, and the page says so"
)
def test_a_full_disk_fails_the_kernel_and_no_other(engine: Path, tmp_path: Path) -> None:
    """The program is stopped meanwhile, so that the next kernel begins when there is room again."""
    result = tmp_path / "result"
    records = result / "parts" / "spio" / "records" / "001.ndjson"
    with loop_image(tmp_path, "ext4", 4 << 30) as disk:
        words = ["run", "apps", "--target", f"disk={disk}", "--time", "30s", *only("spio", "sar")]
        process = start(command(engine, *words, "--result", str(result)))
        try:
            wait_until(lambda: records.is_file() and records.stat().st_size > 0, process)
            process.send_signal(signal.SIGSTOP)
            fill(disk / "filler")
            wait_until(
                lambda: any(file.end for file in ResultFolder.open(records.parent.parent).read_records()), process
            )
            (disk / "filler").unlink()
            process.send_signal(signal.SIGCONT)
        except BaseException:
            process.kill()
            raise
        code, out, err = finish(process)
        assert code == 4, err
        assert find_run_folders(disk) == []
    assert statuses(result) == {"spio": "failed", "sar": "complete"}
    (file,) = ResultFolder.open(records.parent.parent).read_records()
    numbers = [one.errno for phase in file.phases for one in phase.failures]
    assert 28 in numbers or any("errno 28" in event.text for event in file.events), "met within a phase or before it"
    assert "spio (failed)" in out
    page = (result / "report.html").read_text()
    assert "No space left on device" in page
    assert "radar images in" in page
