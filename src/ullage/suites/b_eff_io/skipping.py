# SPDX-License-Identifier: Apache-2.0
"""Which patterns are left out because they hung, and which types are given up. Pure.

A pattern that hung is left out from then on, in all accesses and rounds of the same type, partition, set of hints and
target. Where two patterns of a type hung the others would too, and each would cost the patience of the watchdog: the
type is given up there.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

from ullage.suites.b_eff_io.measured import Attempt, CellKey
from ullage.suites.b_eff_io.patterns import PatternType

_MOST_HANGS: Final = 2
_Place: TypeAlias = tuple[str, int, int, PatternType]


class Skips:
    """What is known of hangs; fed with attempts in any order."""

    def __init__(self, attempts: Iterable[Attempt] = ()) -> None:
        self._hung: dict[_Place, set[int]] = {}
        for attempt in attempts:
            self.note(attempt)

    def note(self, attempt: Attempt) -> bool:
        """Whether ``attempt`` ended in a hang that was not known before."""
        if attempt.hung is None:
            return False
        known = self._hung.setdefault(_place(attempt.key), set())
        is_new = attempt.hung not in known
        known.add(attempt.hung)
        return is_new

    def of(self, key: CellKey) -> list[int]:
        """Numbers of the patterns to leave out, rising."""
        return sorted(self._hung.get(_place(key), ()))

    def is_given_up(self, key: CellKey) -> bool:
        """Whether the whole type is."""
        return len(self.of(key)) >= _MOST_HANGS


def _place(key: CellKey) -> _Place:
    return key.target, key.hints, key.ranks, key.type
