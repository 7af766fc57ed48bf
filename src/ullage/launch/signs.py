# SPDX-License-Identifier: Apache-2.0
"""The sign of life that rank 0 writes beside its records, once a second and whatever it works on.

It is silent when the rank is stopped whole, when its node hangs, or when it has ended and its launcher has not.
"""

from pathlib import Path
from typing import Final

from ullage.model.plan import Plan

# As in engine/run/launch_watch.cpp: no rank is silent before. The engine, whose ranks watch each other, goes first.
_SHORTEST_SILENCE_S: Final = 5.0
_AFTER_THE_ENGINE_S: Final = 10.0
_LOOK_S: Final = 1.0
_MOST_BYTES: Final = 64


def silence_of(plan: Plan) -> float:
    """Seconds without a sign of life after which a launch of ``plan`` is ended. No stage of it makes that longer."""
    return max(plan.watchdog_s, _SHORTEST_SILENCE_S) + _AFTER_THE_ENGINE_S


class SignOfLife:
    """Of the launch whose records go to ``records``. One that has never given a sign is not silent."""

    def __init__(self, records: Path) -> None:
        self._path = records.with_name(f"{records.name}.alive")
        self._seen: bytes | None = None
        self._changed = 0.0
        self._looked = 0.0
        self.forget()

    def forget(self) -> None:
        """Remove what a launch that was killed has left."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            self._seen = self._read()

    def silent_s(self, now: float) -> float:
        """How long nothing was heard; ``now`` is of ``time.monotonic``. Only looks are counted, of a second each.

        So a machine that stood still, with the rank and this process on it, was not silent.
        """
        if now - self._looked >= _LOOK_S:
            found = self._read()
            if found is not None and found != self._seen:
                self._seen, self._changed = found, now
            elif self._changed:
                self._changed += max(0.0, now - self._looked - 2 * _LOOK_S)
            self._looked = now
        return now - self._changed if self._changed else 0.0

    def _read(self) -> bytes | None:
        try:
            with self._path.open("rb") as stream:
                return stream.read(_MOST_BYTES)
        except OSError:
            return None


def is_stopped(pid: int) -> bool:
    """Whether a process is there and stopped, by a signal or a debugger."""
    try:
        # The name may hold anything, so what follows its last bracket counts.
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
            in "Tt"
        )
    except (OSError, IndexError):
        return False
