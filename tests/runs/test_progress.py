# SPDX-License-Identifier: Apache-2.0
"""Progress: plain lines now and then, a bar on a terminal; nothing from a machine can disturb either."""

import contextlib
import io
import os
import pty
from concurrent.futures import ThreadPoolExecutor

import pytest

from ullage.model.record import CaseRecord, Done, PhaseRecord
from ullage.runs.progress import PlainProgress, Shown, TerminalProgress, make_progress


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
    clock = Clock()
    shown = Shown(clock.now)
    shown.part("cpu")
    shown.part_time(10.0)
    shown.stage("9 cases", 0, 4.0)
    shown.stage("HPL by hpcc beside", 0, 99.0)
    clock.at = 5.0
    assert shown.time() == "[########........]  50 %  5.00 s left"
    clock.at = 10.0
    shown.part("memory")
    shown.stage("4 cases", 0, 4.0)
    clock.at = 11.0
    assert shown.time() == "[####............]  25 %  3.00 s left"
    shown.whole(100.0)
    shown.part_time(8.0)
    clock.at = 36.0
    assert shown.time() == "[####............]  25 %  75.0 s left"


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
    clock = Clock()
    clock.at = 10.0
    shown = Shown(clock.now)
    shown.part("part 2 of 3: sweep")
    assert shown.time() == "", "no time is known yet"
    shown.stage("every cell", 6, 40.0)
    shown.record(phase())
    shown.record(case())
    assert shown.what() == "part 2 of 3: sweep  every cell  nvme write 1.00 GB/s"
    clock.at = 20.0
    assert shown.time() == "[####............]  25 %  30.0 s left"
    clock.at = 99.0
    assert shown.time() == "49.0 s longer than planned"
    clock.at = 5.0
    assert shown.time().startswith("[................]   0 %")


def test_the_time_is_that_of_the_whole_run_where_it_is_known() -> None:
    clock = Clock()
    shown = Shown(clock.now)
    shown.whole(100.0)
    for began, part in ((0.0, "part 1 of 2: disk"), (50.0, "part 2 of 2: sweep")):
        clock.at = began
        shown.part(part)
        shown.stage("every cell", 6, 10.0)
        clock.at = began + 25.0
        assert shown.time().endswith(f"{100 - clock.at:.1f} s left")
    assert "  75 %" in shown.time()


def test_a_phase_without_time_has_no_rate() -> None:
    shown = Shown(Clock().now)
    shown.stage("x", 6, 10.0)
    shown.record(phase(elapsed_ns=0))
    assert shown.what() == "x  write"


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31mred", "[bold]x[/bold]"])
def test_names_of_targets_stay_on_their_line(name: str) -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock.now)
    progress.part(name)
    progress.say(name)
    assert "\x1b" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 2
    shown = Shown(clock.now)
    shown.record(case(name))
    assert "\x1b" not in shown.what()
    assert len(shown.what().splitlines()) == 1


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
