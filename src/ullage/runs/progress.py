# SPDX-License-Identifier: Apache-2.0
"""How a long run goes on: a moving line on a terminal, a plain line now and then elsewhere. All of it on stderr."""

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from ullage.errors import one_line
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.results.records import AnyRecord
from ullage.units import format_rate, format_time

if TYPE_CHECKING:
    from rich.progress import TaskID

_PLAIN_EVERY_S: Final = 5.0
# The line is drawn in a thread of its own: seldom, so that nothing is disturbed.
_REFRESH_PER_S: Final = 2.0


class Progress(Protocol):
    """Who is told how a run goes on."""

    def stage(self, text: str, repetitions: int, left_s: float) -> None:
        """A new part begins: about so many repetitions, while the whole run has ``left_s`` left at most."""
        ...

    def record(self, record: AnyRecord) -> None:
        """Something was measured."""
        ...

    def say(self, text: str) -> None:
        """One line that stays."""
        ...

    def close(self) -> None:
        """The run has ended."""
        ...


@dataclass
class Status:
    """What is shown. ``ends_at`` is on the clock of whoever shows it."""

    stage: str = ""
    repetitions: int = 0
    done: int = 0
    ends_at: float = 0.0
    phase: str = ""
    rate: str = ""

    def begin(self, text: str, repetitions: int, ends_at: float) -> None:
        """A new part of the run."""
        self.stage, self.repetitions, self.done, self.ends_at = text, repetitions, 0, ends_at
        self.phase = self.rate = ""

    def take(self, record: AnyRecord) -> bool:
        """Whether ``record`` changes what is shown."""
        if isinstance(record, PhaseRecord):
            self.phase = record.phase
            has_rate = record.bytes > 0 and record.elapsed_ns > 0
            self.rate = format_rate(record.bytes * 1e9 / record.elapsed_ns) if has_rate else ""
            return True
        if isinstance(record, CaseRecord):
            self.done += 1
            # Repetitions on a busy machine are repeated, so there may be more than was expected.
            self.repetitions = max(self.repetitions, self.done)
            self.phase = f"{self.phase} {record.target}" if self.phase else record.target
            return True
        return False

    def left(self, now: float) -> str:
        """The time that is left, in words."""
        return f"{format_time(round(max(0.0, self.ends_at - now)))} left at most"

    def line(self, now: float) -> str:
        """Everything in one line."""
        count = f"{self.done} of {self.repetitions} repetitions" if self.repetitions else ""
        return one_line("  ".join(filter(None, (self.stage, count, self.phase, self.rate, self.left(now)))), 200)


class _Shown(ABC):
    """What both forms have in common: a status that is shown anew when it has changed. ``now``: a clock in s."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._status = Status()

    def stage(self, text: str, repetitions: int, left_s: float) -> None:
        """See ``Progress``."""
        self._status.begin(text, repetitions, self._now() + left_s)
        self._show()

    def record(self, record: AnyRecord) -> None:
        """See ``Progress``."""
        if self._status.take(record):
            self._show()

    @abstractmethod
    def _show(self) -> None: ...


class PlainProgress(_Shown):
    """Lines, at most one every 5 s."""

    def __init__(self, stream: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(now)
        self._stream = stream
        self._last: float | None = None

    def say(self, text: str) -> None:
        """See ``Progress``."""
        self._stream.write(one_line(text) + "\n")
        self._stream.flush()

    def close(self) -> None:
        """See ``Progress``."""

    def _show(self) -> None:
        now = self._now()
        if self._last is None or now - self._last >= _PLAIN_EVERY_S:
            self._last = now
            self.say(self._status.line(now))


class TerminalProgress(_Shown):
    """A bar with phase, rate now and time left."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        super().__init__(time.monotonic)
        console = Console(file=stream, highlight=False)
        self._bar: Bar = Bar(
            TextColumn("{task.fields[stage]}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[now]}", markup=False),
            console=console,
            transient=True,
            refresh_per_second=_REFRESH_PER_S,
        )
        self._task: TaskID = self._bar.add_task("", stage="", now="", total=None)
        self._bar.start()

    def say(self, text: str) -> None:
        """See ``Progress``."""
        from rich.text import Text

        self._bar.console.print(Text(one_line(text)))

    def close(self) -> None:
        """See ``Progress``."""
        self._bar.stop()

    def _show(self) -> None:
        status = self._status
        now = "  ".join(filter(None, (one_line(status.phase, 40), status.rate, status.left(time.monotonic()))))
        total = status.repetitions or None
        self._bar.update(self._task, completed=status.done, total=total, stage=one_line(status.stage, 60), now=now)


def make_progress(stream: TextIO | None = None) -> Progress:
    """The form that fits ``stream``, stderr unless told otherwise."""
    shown = sys.stderr if stream is None else stream
    return TerminalProgress(shown) if shown.isatty() else PlainProgress(shown)
