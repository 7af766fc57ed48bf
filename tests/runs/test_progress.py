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


def test_plain_lines_are_seldom_and_say_where_the_run_is() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock.now)
    progress.stage("every cell", 6, 60)
    for step in range(1, 13):
        clock.at = step
        progress.record(phase())
        progress.record(case())
    progress.close()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "every cell  0 of 6 repetitions  60.0 s left at most"
    assert lines[1] == "every cell  4 of 6 repetitions  write  1.00 GB/s  55.0 s left at most"
    assert len(lines) == 3


def test_more_repetitions_than_expected_are_still_a_part_of_the_whole() -> None:
    status = Status()
    status.begin("x", 1, 10.0)
    for _ in range(3):
        assert status.take(case())
    assert "3 of 3 repetitions" in status.line(0.0)


def test_a_phase_without_time_has_no_rate() -> None:
    status = Status()
    status.begin("x", 0, 10.0)
    assert status.take(phase(elapsed_ns=0))
    assert status.line(20.0) == "x  write  0 s left at most"


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31mred", "[bold]x[/bold]"])
def test_names_of_targets_stay_on_their_line(name: str) -> None:
    stream, clock = io.StringIO(), Clock()
    progress = PlainProgress(stream, clock.now)
    progress.record(case(name))
    progress.say(name)
    assert "\x1b" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 2


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
        progress.stage("every cell [red]", 6, 60)
        progress.record(phase())
        progress.record(case())
        progress.say("volume 1 GiB [x]")
        progress.close()
        stream.close()
        shown = reading.result()
    assert "volume 1 GiB [x]" in shown
