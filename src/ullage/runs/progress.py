# SPDX-License-Identifier: Apache-2.0
"""How a long run goes on: one live line on a terminal, elsewhere a line for each part. All of it on stderr."""

import sys
import time
from collections.abc import Callable
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


class Shown(Progress):
    """Keeps what is shown, which a form writes in its way; after the end nothing is shown. ``now``: a clock in s.

    The time is that of the whole run where it is known, else that of the part, else that of its stage.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._part = self._stage = self._phase = self._target = self._rate = ""
        self._began = self._ends_at = 0.0
        self._is_of_whole = self._is_of_part = self._has_ended = False

    def whole(self, left_s: float) -> None:
        self._began, self._ends_at, self._is_of_whole = self._now(), self._now() + left_s, True

    def part_time(self, left_s: float) -> None:
        if not self._is_of_whole:
            self._began, self._ends_at, self._is_of_part = self._now(), self._now() + left_s, True

    def part(self, text: str) -> None:
        self._part = text
        if not self._is_of_whole:
            self._began, self._ends_at, self._is_of_part = self._now(), self._now(), False
        self._stage = self._phase = self._target = self._rate = ""

    def stage(self, text: str, repetitions: int, left_s: float) -> None:  # noqa: ARG002 - how many follows from the time
        if not (self._is_of_whole or self._is_of_part):
            self._ends_at = self._now() + left_s
        self._stage, self._phase, self._target, self._rate = text, "", "", ""

    def record(self, record: AnyRecord) -> None:
        if isinstance(record, PhaseRecord):
            self._phase = record.phase
            has_rate = record.bytes > 0 and record.elapsed_ns > 0
            self._rate = format_rate(record.bytes * 1e9 / record.elapsed_ns) if has_rate else ""
        if isinstance(record, CaseRecord):
            self._target = record.target

    def say(self, text: str) -> None:
        if not self._has_ended:
            self._write(one_line(text))

    def close(self) -> None:
        self._has_ended = True

    def what(self) -> str:
        """Return one line with the part, what it does, and the last number."""
        last = " ".join(filter(None, (self._target, self._phase, self._rate)))
        return one_line("  ".join(filter(None, (self._part, self._stage, last))), 200)

    def time(self) -> str:
        """Return ``[######..........]  38 %  15.0 s left``, or nothing before the time of a part is known."""
        now, whole = self._now(), self._ends_at - self._began
        if whole <= 0:
            return ""
        if now >= self._ends_at:
            return f"{format_time(round(now - self._ends_at))} longer than planned"
        share = max((now - self._began) / whole, 0.0)
        filled = round(share * _BAR)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}]"
        return f"{bar} {percent(share):>5}  {format_time(round(self._ends_at - now))} left"

    def _write(self, text: str) -> None:
        """Write one line that stays, as far as the form writes any."""


class PlainProgress(Shown):
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


class TerminalProgress(Shown):
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

        time_ = self.time()
        room = max(self._console.width - len(time_) - 3, 1)
        what = Text(self.what())
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
