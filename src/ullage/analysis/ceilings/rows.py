# SPDX-License-Identifier: Apache-2.0
"""Rows with their ceilings: what is declared or detected, else the best that was ever reached, labelled so. Pure."""

from collections.abc import Callable, Sequence
from typing import Final

from ullage.analysis.verdicts import above_ceiling
from ullage.model.summary import Ceiling, Row

_ABOVE: Final = "INVALID:above-ceiling"
_CACHED: Final = frozenset({"mixed", "partly", "warm", "cached"})
_ABOVE_REASON: Final = "times the ceiling"


def with_ceiling(row: Row, ceiling: Ceiling | None) -> Row:
    """``row`` under ``ceiling`` alone: its share, and the flag of what cannot be. A bound of a time lies below it."""
    flags = [flag for flag in row.flags if flag != _ABOVE]
    reasons = row.reasons if len(flags) == len(row.flags) else [r for r in row.reasons if not r.endswith(_ABOVE_REASON)]
    if ceiling is None or row.median <= 0:
        return row.model_copy(update={"ceiling": None, "share": None, "flags": flags, "reasons": reasons})
    share = row.median / ceiling.value if row.better == "more" else ceiling.value / row.median
    above = above_ceiling(share, 1.0)
    if above is not None:
        flags, reasons = [*flags, above.name], [*reasons, above.reason]
    return row.model_copy(update={"ceiling": ceiling, "share": share, "flags": flags, "reasons": reasons})


def is_of_device(row: Row) -> bool:
    """Whether no cache is known to have answered: what one has says nothing of the device."""
    return row.verdict.replace("(", " ").partition(" ")[0] not in _CACHED


def best_reached(rows: Sequence[Row], describe: Callable[[Row], str]) -> Ceiling | None:
    """The best median of ``rows``, by us or by the peer beside; None without a valid row.

    ``describe`` says which row it was.
    """
    reached: list[tuple[float, str]] = []
    for row in rows:
        if not any(flag.startswith("INVALID") for flag in row.flags):
            reached.append((row.median, describe(row)))
        if row.peer is not None:
            reached.append((row.peer.median, f"{row.peer.tool}, {describe(row)}"))
    if not reached:
        return None
    value, text = max(reached) if rows[0].better == "more" else min(reached)
    return Ceiling(value=value, kind="empirical", source=f"the best of this run: {text}") if value > 0 else None
