# SPDX-License-Identifier: Apache-2.0
"""Progress: plain lines now and then, a bar on a terminal; nothing from a machine can disturb either."""

import contextlib
import io
import os
import pty
from concurrent.futures import ThreadPoolExecutor

import pytest

from ullage.model.record import CaseRecord, Done, PhaseRecord
from ullage.runs.progress import PlainProgress, Status, TerminalProgress, make_progress


def phase(bytes_: int = 10**9, elapsed_ns: int = 10**9, name: str = "write") -> PhaseRecord:
    done = Done(elapsed_ns=elapsed_ns, bytes=bytes_, operations=1)
    return PhaseRecord(
        case="0" * 16,
        repetition=0,
        phase=name,
        access="write",
        status="ok",
        grade="A",
        ranks=1,
        start_ns=0,
        elapsed_ns=elapsed_ns,
        bytes=bytes_,
        operations=1,
        stages={},
        first_done=done,
        last_done=done,
    )


def case(target: str = "nvme") -> CaseRecord:
    return CaseRecord(
        case="0" * 16, repetition=0, status="ok", target=target, backend="posix", workload="transfer", elapsed_ns=1
    )


class Clock:
    at = 0.0

    def now(self) -> float:
        return self.at


def test_the_time_of_a_part_is_that_of_all_its_stages_and_gives_way_to_that_of_the_whole_run() -> None:
    status = Status()
    status.enter("cpu", 0.0)
    status.bound_part(0.0, 10.0)
    status.begin("9 cases", 4.0)
    status.begin("HPL by hpcc beside", 99.0)
    assert (status.share(5.0), status.ends_at) == (0.5, 10.0)
    status.enter("memory", 10.0)
    status.begin("4 cases", 14.0)
    assert (status.began, status.ends_at) == (10.0, 14.0)
    status.bound(10.0, 100.0)
    status.bound_part(12.0, 20.0)
    assert (status.began, status.ends_at) == (10.0, 100.0)


def test_elsewhere_a_part_is_one_line_whatever_it_does() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, Clock().now)
    for number in (1, 2):
        progress.part(f"part {number} of 2: sweep")
        progress.stage("every cell", 6, 60)
        for _ in range(20):
            progress.record(phase())
            progress.record(case())
    progress.close()
    assert stream.getvalue().splitlines() == ["part 1 of 2: sweep", "part 2 of 2: sweep"]


def test_after_the_end_nothing_is_shown() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, Clock().now)
    progress.close()
    progress.stage("every cell", 6, 60)
    progress.record(phase())
    progress.say("late")
    progress.part("later")
    assert stream.getvalue() == ""


def test_quiet_is_quiet() -> None:
    stream = io.StringIO()
    progress = make_progress(stream, quiet=True)
    progress.part("sweep")
    progress.say("volume 1 GiB")
    assert stream.getvalue() == ""


def test_the_line_says_part_case_rate_share_of_the_time_and_what_is_left() -> None:
    status = Status()
    status.enter("part 2 of 3: sweep", 10.0)
    assert status.time(10.0) == "", "no time is known yet"
    status.begin("every cell", 50.0)
    status.take(phase())
    status.take(case())
    assert status.what() == "part 2 of 3: sweep  every cell  nvme write 1.00 GB/s"
    assert status.time(20.0) == "[####............]  25 %  30.0 s left"
    assert status.share(5.0) == 0.0
    assert status.time(99.0) == "49.0 s longer than planned"


def test_the_time_is_that_of_the_whole_run_where_it_is_known() -> None:
    status = Status()
    status.bound(0.0, 100.0)
    for began, part in ((0.0, "part 1 of 2: disk"), (50.0, "part 2 of 2: sweep")):
        status.enter(part, began)
        status.begin("every cell", began + 10.0)
        assert status.time(began + 25.0).endswith(f"{75 - began:.1f} s left")
    assert status.share(75.0) == 0.75


def test_a_phase_without_time_has_no_rate() -> None:
    status = Status()
    status.begin("x", 10.0)
    status.take(phase(elapsed_ns=0))
    assert status.what() == "x  write"


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31mred", "[bold]x[/bold]"])
def test_names_of_targets_stay_on_their_line(name: str) -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock.now)
    progress.part(name)
    progress.say(name)
    assert "\x1b" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 2
    status = Status()
    status.take(case(name))
    assert "\x1b" not in status.what()
    assert len(status.what().splitlines()) == 1


def read_to_the_end(terminal: int) -> str:
    """What is written to a terminal until it is closed; it holds little that has not been read."""
    shown = b""
    with contextlib.suppress(OSError):  # as its end is told
        while piece := os.read(terminal, 1 << 16):
            shown += piece
    os.close(terminal)
    return shown.decode()


def test_the_form_follows_the_stream() -> None:
    assert isinstance(make_progress(io.StringIO()), PlainProgress)
    leader, follower = pty.openpty()
    with ThreadPoolExecutor(1) as reader, os.fdopen(follower, "w") as stream:
        reading = reader.submit(read_to_the_end, leader)
        progress = make_progress(stream)
        assert isinstance(progress, TerminalProgress)
        progress.part("sweep [red]")
        progress.stage("every cell", 6, 60)
        progress.record(phase())
        progress.record(case())
        progress.say("volume 1 GiB [x]")
        progress.close()
        stream.close()
        shown = reading.result()
    assert "volume 1 GiB [x]" in shown
