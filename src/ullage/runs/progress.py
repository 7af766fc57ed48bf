# SPDX-License-Identifier: Apache-2.0
"""How a long run goes on: one live line on a terminal, elsewhere a line for each part. All of it on stderr."""

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TextIO

from ullage.errors import one_line
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.quantity import percent
from ullage.results.records import AnyRecord
from ullage.units import format_rate, format_time

if TYPE_CHECKING:
    from rich.text import Text

# The line is drawn in a thread of its own: seldom, so that nothing is disturbed.
_REFRESH_PER_S: Final = 2.0
_BAR: Final = 16


class Progress:
    """Who is told how a run goes on; this one shows nothing of it."""

    def whole(self, left_s: float) -> None:
        """Take note of the time of the whole run: from now on the time is of all parts, not of the one under way."""

    def part_time(self, left_s: float) -> None:
        """Take note of the time of the part under way, with all of its stages and what other tools do beside it."""

    def part(self, text: str) -> None:
        """Take note that a part of the run begins: a suite of several, or the only one."""

    def stage(self, text: str, repetitions: int, left_s: float) -> None:
        """Take note of what a part does next.

        It makes about so many repetitions, 0 where that is not known, and has ``left_s`` left at most.
        """

    def record(self, record: AnyRecord) -> None:
        """Take note that something was measured."""

    def say(self, text: str) -> None:
        """Print one line that stays."""

    def close(self) -> None:
        """Show nothing any more, since the run has ended."""


@dataclass
class Status:
    """What is shown. ``began`` and ``ends_at`` are on the clock of whoever shows it, in s.

    They are of the whole run where its time is known (``of_whole``), else of the part.
    """

    part: str = ""
    stage: str = ""
    began: float = 0.0
    ends_at: float = 0.0
    phase: str = ""
    target: str = ""
    rate: str = ""
    of_whole: bool = False
    of_part: bool = False

    def bound(self, now: float, ends_at: float) -> None:
        """Take the time of the whole run."""
        self.began, self.ends_at, self.of_whole = now, ends_at, True

    def bound_part(self, now: float, ends_at: float) -> None:
        """Take the time of all stages of the part, unless that of the whole run is known."""
        if not self.of_whole:
            self.began, self.ends_at, self.of_part = now, ends_at, True

    def enter(self, part: str, now: float) -> None:
        """Begin a new part of the run, whose time is not known yet."""
        self.part = part
        if not self.of_whole:
            self.began, self.ends_at, self.of_part = now, now, False
        self.stage = self.phase = self.target = self.rate = ""

    def begin(self, text: str, ends_at: float) -> None:
        """Go on with something else in the same part."""
        self.stage, self.ends_at = text, self.ends_at if self.of_whole or self.of_part else ends_at
        self.phase = self.target = self.rate = ""

    def take(self, record: AnyRecord) -> None:
        """Keep what was measured last."""
        if isinstance(record, PhaseRecord):
            self.phase = record.phase
            has_rate = record.bytes > 0 and record.elapsed_ns > 0
            self.rate = format_rate(record.bytes * 1e9 / record.elapsed_ns) if has_rate else ""
        if isinstance(record, CaseRecord):
            self.target = record.target

    def share(self, now: float) -> float:
        """Return how much of the time of the part is over, from 0 to 1."""
        whole = self.ends_at - self.began
        return min(max((now - self.began) / whole, 0.0), 1.0) if whole > 0 else 0.0

    def what(self) -> str:
        """Return one line with the part, what it does, and the last number."""
        last = " ".join(filter(None, (self.target, self.phase, self.rate)))
        return one_line("  ".join(filter(None, (self.part, self.stage, last))), 200)

    def time(self, now: float) -> str:
        """Return ``[######..........]  38 %  15.0 s left``, or nothing before the time of a part is known."""
        if self.ends_at <= self.began:
            return ""
        if now >= self.ends_at:
            return f"{format_time(round(now - self.ends_at))} longer than planned"
        filled = round(self.share(now) * _BAR)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}]"
        return f"{bar} {percent(self.share(now)):>5}  {format_time(round(max(0.0, self.ends_at - now)))} left"


class _Shown(Progress, ABC):
    """What both forms have in common: a status, and that nothing is shown after the end. ``now``: a clock in s."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._status = Status()
        self._is_open = True

    def whole(self, left_s: float) -> None:
        self._status.bound(self._now(), self._now() + left_s)

    def part_time(self, left_s: float) -> None:
        self._status.bound_part(self._now(), self._now() + left_s)

    def part(self, text: str) -> None:
        self._status.enter(text, self._now())

    def stage(self, text: str, repetitions: int, left_s: float) -> None:  # noqa: ARG002 - how many follows from the time
        self._status.begin(text, self._now() + left_s)

    def record(self, record: AnyRecord) -> None:
        self._status.take(record)

    def say(self, text: str) -> None:
        if self._is_open:
            self._write(one_line(text))

    def close(self) -> None:
        self._is_open = False

    @abstractmethod
    def _write(self, text: str) -> None: ...


class PlainProgress(_Shown):
    """A line for each part, and what is said."""

    def __init__(self, stream: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(now)
        self._stream = stream

    def part(self, text: str) -> None:
        super().part(text)
        self.say(text)

    def _write(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()


class TerminalProgress(_Shown):
    """One line that moves: part, what it does, the last number, the share of the time, what is left of it."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__()
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._live = Live(
            console=self._console, get_renderable=self._line, refresh_per_second=_REFRESH_PER_S, transient=True
        )
        self._live.start()

    def close(self) -> None:
        super().close()
        self._live.stop()

    def _line(self) -> "Text":
        """Return a line never wider than the terminal: what does not fit is cut from the middle, and the time stays."""
        from rich.text import Text

        time_ = self._status.time(self._now())
        room = max(self._console.width - len(time_) - 3, 1)
        what = Text(self._status.what())
        what.truncate(room, overflow="ellipsis", pad=bool(time_))
        return Text("  ").join([what, Text(time_)]) if time_ else what

    def _write(self, text: str) -> None:
        from rich.text import Text

        self._console.print(Text(text))


def make_progress(stream: TextIO | None = None, *, quiet: bool = False) -> Progress:
    """Return the form of progress that fits ``stream``, which is stderr unless told otherwise."""
    shown = sys.stderr if stream is None else stream
    if quiet:
        return Progress()
    return TerminalProgress(shown) if shown.isatty() else PlainProgress(shown)
