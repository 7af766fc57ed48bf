# SPDX-License-Identifier: Apache-2.0
"""What a round still lacks, which patterns are left out because they hung, and the sentences on both. Pure.

What is lacking may have to be written again because the data of an earlier launch is gone. A pattern that hung is left
out from then on, in all accesses and rounds of the same type, partition, set of hints and target. Where two patterns of
a type hung the others would too, and each would cost the patience of the watchdog: the type is given up there.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ullage.quantity import listing, processes
from ullage.suites.b_eff_io.cases import dataset_of
from ullage.suites.b_eff_io.measured import Attempt, CellKey
from ullage.suites.b_eff_io.patterns import PATTERNS, PatternType
from ullage.suites.b_eff_io.values import HANGS_TO_GIVE_UP, makers_of


@dataclass(frozen=True)
class Rest:
    """What is left of a round; of ``wanted`` those in ``again`` went well before, and only make their data anew."""

    wanted: frozenset[CellKey]
    again: tuple[CellKey, ...]


def rest_of(
    keys: Sequence[CellKey], done: Collection[CellKey], given_up: Collection[CellKey], there: Collection[str]
) -> Rest:
    """Find what is left of all ``keys`` of a round. ``there``: datasets that are still in place."""
    wanted = {key: None for key in keys if key not in done and key not in given_up}
    to_look_at = list(wanted)
    again: list[CellKey] = []
    while to_look_at:
        for maker in makers_of(to_look_at.pop()):
            if dataset_of(maker) not in there and maker not in wanted and maker not in given_up:
                wanted[maker] = None
                again.append(maker)
                to_look_at.append(maker)
    return Rest(frozenset(wanted), tuple(key for key in keys if key in again))


def runnable(keys: Sequence[CellKey], there: Collection[str]) -> list[CellKey]:
    """Return the cells that can run: the dataset that they need is ``there``, or made before them in the launch.

    Segments take their counts from the datasets of other types, as far as there are any.
    """
    made = set(there)
    found: list[CellKey] = []
    for key in keys:
        makers = makers_of(key)
        if makers and not any(dataset_of(maker) in made for maker in makers):
            continue
        if key.access == "write":
            made.add(dataset_of(key))
        found.append(key)
    return found


_Place: TypeAlias = tuple[str, int, int, PatternType]


class Skips:
    """What is known of hangs; fed with attempts in any order."""

    def __init__(self, attempts: Iterable[Attempt] = ()) -> None:
        self._hung: dict[_Place, set[int]] = {}
        for attempt in attempts:
            self.note(attempt)

    def note(self, attempt: Attempt) -> bool:
        """Note the hang of ``attempt``, if any, and tell whether it was not known before."""
        if attempt.hung is None:
            return False
        known = self._hung.setdefault(_place(attempt.key), set())
        is_new = attempt.hung not in known
        known.add(attempt.hung)
        return is_new

    def of(self, key: CellKey) -> list[int]:
        """Return the numbers of the patterns to leave out of a cell, rising."""
        return sorted(self._hung.get(_place(key), ()))

    def is_given_up(self, key: CellKey) -> bool:
        """Tell whether the whole type of a cell is given up."""
        return len(self.of(key)) >= HANGS_TO_GIVE_UP


def _place(key: CellKey) -> _Place:
    return key.target, key.hints, key.ranks, key.type


_MOST_CELLS: Final = 4


def _cell_text(key: CellKey, where: str = "") -> str:
    return f"{key.access} of type {key.type} by {processes(key.ranks)}{where}"


def hang_text(hung: Attempt, watchdog_s: float, where: str = "") -> str:
    """Say which pattern hung, and that the run goes on. ``where``: what else tells its case from others."""
    number = hung.hung if hung.hung is not None else -1
    size = PATTERNS[number].size if 0 <= number < len(PATTERNS) else "unknown"
    return (
        f"pattern {number} ({size}) made no progress for {watchdog_s:g} s in the {_cell_text(hung.key, where)} on "
        f"{hung.key.target}: the run goes on without it"
    )


def given_up_text(key: CellKey, patterns: Sequence[int], where: str = "") -> str:
    """Say that a type is given up after several of its patterns hung."""
    numbers = listing([str(number) for number in patterns])
    place = f"{processes(key.ranks)}{where} on {key.target}"
    return f"patterns {numbers} of type {key.type} hung with {place}: the rest of the type is given up there"


def again_text(again: Sequence[CellKey]) -> str:
    """Say which cells run again because the data that an earlier launch wrote is gone."""
    cells = listing([_cell_text(key) for key in again], _MOST_CELLS)
    return f"run again for the data that is gone: {cells}; the first value counts"
