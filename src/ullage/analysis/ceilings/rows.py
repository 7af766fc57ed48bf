# SPDX-License-Identifier: Apache-2.0
"""Rows with their ceilings: what is declared or detected, else the best that was ever reached, labelled so. Pure."""

from collections.abc import Callable, Sequence
from typing import Final

from ullage.analysis.verdicts.grades import is_sound
from ullage.analysis.verdicts.physics import ABOVE_CEILING, above_ceiling
from ullage.model.flags import INVALID_ABOVE_CEILING
from ullage.model.summary import Ceiling, Row
from ullage.model.system import DriveLimit
from ullage.quantity import format_quantity

FEWEST_SAMPLES: Final = 3
# A row of few samples, or a disturbed one, may exceed the best that counts by this factor without being another level.
_LUCK: Final = 1.1


def with_ceiling(row: Row, ceiling: Ceiling | None) -> Row:
    """Return ``row`` under ``ceiling`` alone: with its share, and an INVALID flag where that breaks it.

    A ceiling of a time bounds it from below. Without a ceiling, or with a median of 0, share and flag are removed.
    """
    flags = [flag for flag in row.flags if flag.code != INVALID_ABOVE_CEILING]
    if ceiling is None or row.median <= 0:
        return row.model_copy(update={"ceiling": None, "share": None, "flags": flags})
    share = row.median / ceiling.value if row.better == "more" else ceiling.value / row.median
    above = above_ceiling(share, ceiling)
    flags += [] if above is None else [above]
    return row.model_copy(update={"ceiling": ceiling, "share": share, "flags": flags})


_LIMITED: Final = {"B/s": "bytes", "op/s": "operations"}
# blk-throttle lets direct writes of 8 MiB have 8 % more than their limit: it still is what slows them.
_GRANTED: Final = 1.15


def with_limit(row: Row, limits: Sequence[DriveLimit]) -> Row:
    """Return a rate that reached the drive with the limit of a control group on it: as its ceiling, where it has none.

    A limit below a known ceiling is a note, since it is not what the drive can do. The kernel grants limits by slices
    of time, so a short phase may exceed one: it is then no ceiling, and far above it, it bounds nothing.
    """
    unit = _LIMITED.get(row.unit)
    limit = next((one for one in limits if (one.access, one.unit) == (row.access, unit)), None)
    if limit is None or row.median <= 0 or row.median > _GRANTED * limit.value:
        return row
    text = f"a control group limits {row.access}s of this drive to {format_quantity(limit.value, row.unit)}"
    if row.ceiling is not None and row.ceiling.value <= limit.value:
        return row
    noted = row.model_copy(update={"notes": [*row.notes, f"{text} ({limit.source})"]})
    found = Ceiling(value=limit.value, kind="detected", source=f"{text} ({limit.source})")
    is_above = row.median > ABOVE_CEILING * limit.value
    return noted if row.ceiling is not None or is_above else with_ceiling(noted, found)


def beside_best(row: Row, best: Ceiling | None) -> Row:
    """Return ``row`` with the best of this run beside it, and without a share of it.

    The best of a run does not tell what the drive could do.
    """
    return with_ceiling(row, None).model_copy(update={"ceiling": best if row.median > 0 else None})


def is_of_device(row: Row) -> bool:
    """Tell whether no cache is known to have answered; a cache says nothing of the device."""
    return row.verdict.replace("(", " ").partition(" ")[0] not in {"mixed", "partly", "warm", "cached"}


def best_reached(rows: Sequence[Row], describe: Callable[[Row], str], *, of_all: bool = True) -> Ceiling | None:
    """Return the best median of ``rows``, of ours or of the peer's; None where no row can bound anything.

    A row counts when nothing is wrong with it and it has ``FEWEST_SAMPLES``, like a peer: the best of many single
    numbers is an exception. The caller sees to it that all are of one kind: the same bytes, direction, mix and cores.
    ``describe`` says which row it was. None, too, where a row that does not count was faster by more than ``_LUCK``:
    then the best that counts is not what was reached. ``of_all`` is False where such a row loses its own ceiling alone.
    """
    reached: list[tuple[float, str]] = []
    for row in rows:
        if not is_sound(row) or len(row.repetitions) < FEWEST_SAMPLES:
            continue
        reached.append((row.median, describe(row)))
        if row.peer is not None and row.peer.samples >= FEWEST_SAMPLES:
            reached.append((row.peer.median, f"{row.peer.tool}, {describe(row)}"))
    if not reached:
        return None
    value, text = max(reached) if rows[0].better == "more" else min(reached)
    if of_all and any(_beats(row, value * _LUCK if row.better == "more" else value / _LUCK) for row in rows):
        return None
    return Ceiling(value=value, kind="empirical", source=f"the best of this run: {text}") if value > 0 else None


def _beats(row: Row, value: float) -> bool:
    return not row.is_invalid and (row.median > value if row.better == "more" else 0 < row.median < value)
