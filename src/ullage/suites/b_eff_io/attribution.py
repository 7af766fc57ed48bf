# SPDX-License-Identifier: Apache-2.0
"""Which pattern types moved b_eff_io from one run to another, by the rows of both. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from ullage.analysis.attribution import Attribution, Mover, moved_of_mean, runs_by
from ullage.analysis.settings import first
from ullage.analysis.verdicts.grades import is_sound
from ullage.model.summary import Row
from ullage.quantity import processes
from ullage.suites.b_eff_io.patterns import REWRITTEN_TYPE, TYPES
from ullage.suites.b_eff_io.rows import ACCESS, B_EFF_IO, MEGA, TYPE, UNIT, WRITE_SIDE, score_name

_TWICE: Final = f"read {REWRITTEN_TYPE}"
_Half = dict[str, float]


def attributed(one: Sequence[Row], other: Sequence[Row], names: tuple[str, str]) -> list[Attribution]:
    """Divide the change of b_eff_io among types and accesses; of several partitions each by itself.

    A form without the types is divided into its two halves, W' and the mean of the reads.
    """
    found: list[Attribution] = []
    for label, rows, others in runs_by(_partition, _counted(one), _counted(other)):
        value, of_other = first(rows, B_EFF_IO), first(others, B_EFF_IO)
        halves = (_types(rows), _types(others))
        if not all(halves):
            halves = (_halves(rows), _halves(others))
        if value is None or of_other is None or not all(halves):
            continue
        unsure = not all(is_sound(row) for row in (*rows, *others) if row.metric == TYPE)
        movers = [
            Mover(name, UNIT, before[name] / MEGA, after[name] / MEGA, moved / 2, unsure)
            for before, after in zip(*halves, strict=True)
            for name, moved in moved_of_mean(_weighted(before), _weighted(after)).items()
        ]
        totals = value.median / MEGA, of_other.median / MEGA
        found.append(Attribution(f"{B_EFF_IO}{label}", UNIT, *names, *totals, tuple(movers)))
    return found


def _counted(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.metric in (B_EFF_IO, WRITE_SIDE, ACCESS, TYPE)]


def _partition(row: Row) -> str:
    return score_name(processes(row.count("ranks")), None, row.word("hint_set"), row.target)


def _types(rows: Sequence[Row]) -> list[_Half]:
    """Return the bandwidths that W' and the mean of the reads are made of; none where one is missing."""
    sides = [*(("write", kind) for kind in TYPES), ("rewrite", REWRITTEN_TYPE)], [("read", kind) for kind in TYPES]
    return _complete(
        [
            {f"{access} {kind}": first(rows, TYPE, access=access, pattern_type=kind) for access, kind in side}
            for side in sides
        ]
    )


def _halves(rows: Sequence[Row]) -> list[_Half]:
    return _complete([{"W'": first(rows, WRITE_SIDE)}, {"B_read": first(rows, ACCESS, access="read")}])


def _complete(halves: Sequence[Mapping[str, Row | None]]) -> list[_Half]:
    found = [{name: row.median for name, row in half.items() if row is not None} for half in halves]
    return found if all(len(known) == len(half) for known, half in zip(found, halves, strict=True)) else []


def _weighted(half: _Half) -> _Half:
    return {name: 2 * value if name == _TWICE else value for name, value in half.items()}


ATTRIBUTION: Final = attributed
