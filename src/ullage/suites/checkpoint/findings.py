# SPDX-License-Identifier: Apache-2.0
"""Sentences of suite ``checkpoint``: how long training waits, which layout is faster, and what a cache answered.

Within a place any two layouts are compared at the level at which all pairs of all places hold (Bonferroni), because the
best is chosen by what was measured.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.contests import compare_rows, spread_of
from ullage.analysis.findings.phrasing import capital, finding, gain_of, least_gain, with_gain
from ullage.analysis.statistics.comparison import level_of_each
from ullage.grouping import grouped
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, plural, times
from ullage.units import format_rate, format_time, format_volume

WAIT: Final = "phase_time"
RATE: Final = "bandwidth"
LEAST_RATE: Final = "least_rank_bandwidth"
SAVE: Final = "save"
RESTORE: Final = "restore"
NOUNS: Final[Mapping[str, str]] = {SAVE: "saves", RESTORE: "restores"}
_LAYOUTS: Final[Mapping[str, str]] = {
    "rank": "a file for each rank",
    "tensor": "a file for each tensor",
    "shared": "one shared file",
}


def files_of(row: Row) -> str:
    """Name the files of a row's layout: ``a file for each rank``."""
    return _LAYOUTS[row.word("layout")]


def order_of(row: Row) -> tuple[str, int, int, str]:
    """Return by what rows are ordered: target, ranks and layout; saves stand before restores."""
    return (row.target, row.ranks, [*_LAYOUTS].index(row.word("layout")), row.word("operation").replace("save", ""))


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones. Only times that no cache answered are compared."""
    walls = sorted((row for row in rows if row.metric == WAIT and not row.is_invalid), key=order_of)
    of_device = [row for row in walls if is_of_device(row)]
    served = grouped(((row.target, row.word("operation")), row) for row in walls if not is_of_device(row))
    rates = {(row.case, row.word("operation")): row for row in rows if row.metric == LEAST_RATE}
    places = grouped((_place(row), row) for row in of_device)
    # Layouts are compared wherever nothing else differs, also in whose data was read.
    alike = grouped(((_place(row), row.word("operation"), row.params.get("data_of")), row) for row in of_device)
    several = [some for some in alike.values() if len(some) > 1]
    own = level_of_each(level, map(len, several))
    return [
        *(_waits(some, rates) for some in places.values()),
        *(found for some in several for found in _faster(some, own)),
        *(_served(target, operation, some) for (target, operation), some in served.items()),
    ]


def _place(row: Row) -> tuple[str, str, int, int]:
    return row.target, row.word("backend"), row.count("nodes"), row.ranks


def _waits(rows: Sequence[Row], rates: Mapping[tuple[str, str], Row]) -> Finding:
    """State the times of all layouts at a place, and the least rate of a rank, as medians."""
    first = rows[0]
    by_operation = grouped((row.word("operation"), row) for row in rows)
    known = [(name, by_operation[name]) for name in (SAVE, RESTORE) if name in by_operation]
    size = format_volume(first.count("volume_bytes"))
    who = f"{plural(first.ranks, 'rank')} on {first.target}"
    told = [f"The checkpoint has {size} ({_model(first)}) and is saved by {who}."]
    for name, some in known:
        each = [f"{format_time(row.median)} ({files_of(row)})" for row in some]
        told.append(f"{'Saving with fsync' if name == SAVE else 'Reading it back'} takes {listing(each)}.")
    told += [said for name, some in known if (said := _least(name, some, rates))]
    words = {SAVE: "to save", RESTORE: "to restore"}
    waits = [f"{_span(by_operation[name])} {word}" for name, word in words.items() if name in by_operation]
    return finding(
        "checkpoint-wait",
        f"Training on {first.target} waits {listing(waits)}",
        " ".join(told),
        target=first.target,
        ranks=first.ranks,
        bytes=first.count("volume_bytes"),
        case=[row.case for row in rows],
        layout=[row.word("layout") for row in rows],
        operation=[row.word("operation") for row in rows],
        wait_s=[row.median for row in rows],
    )


def _model(row: Row) -> str:
    model, scale = row.word("model"), float(row.params.get("scale", 1.0))
    if row.params["mode"] == "whole":
        return model if scale == 1 else f"{model}, {100 * scale:g} % of its published size"
    return f"{model}, {100 * scale:g} % of the published part of these ranks"


def _span(rows: Sequence[Row]) -> str:
    least, most = min(row.median for row in rows), max(row.median for row in rows)
    low, high = format_time(least), format_time(most)
    return low if low == high else f"{low} to {high}"


def _least(name: str, rows: Sequence[Row], rates: Mapping[tuple[str, str], Row]) -> str:
    """State the rate of the slowest rank in the same order of layouts; nothing where a row has none."""
    found = [rates.get((row.case, name)) for row in rows]
    known = [format_rate(row.median) for row in found if row is not None]
    verb = "saves" if name == SAVE else "reads"
    order = ", in the same order" if len(known) > 1 else ""
    return f"The slowest rank {verb} at {listing(known)}{order}." if len(known) == len(found) else ""


def _faster(rows: Sequence[Row], level: float) -> list[Finding]:
    best = min(rows, key=lambda row: row.median)
    spread = spread_of(rows)
    found = [(row, gain_of(compare_rows(best, row, level, None, spread))) for row in rows if row is not best]
    slower = [(row, gain) for row, gain in found if gain is not None]
    if not slower:
        return []
    files, operation = files_of(best), best.word("operation")
    each = [f"{times(gain.factor)} as long with {files_of(row)}" for row, gain in slower]
    where = f"{plural(best.ranks, 'rank')} on {best.target}"
    told = finding(
        "checkpoint-layout",
        f"{capital(NOUNS[operation])} by {where} are faster with {files}",
        f"With {where} and {files}, the {operation} of a checkpoint takes {format_time(best.median)}. The "
        f"{operation} takes {listing(each)}.",
        "advice",
        target=best.target,
        operation=operation,
        ranks=best.ranks,
        case=best.case,
        others=[row.case for row, _ in slower],
        ratio=[gain.factor for _, gain in slower],
    )
    return [with_gain(told, least_gain([gain for _, gain in slower]), f"--layout {best.word('layout')}")]


def _served(target: str, operation: str, rows: Sequence[Row]) -> Finding:
    each = [f"{files_of(row)} with {plural(row.ranks, 'rank')} ({row.verdict})" for row in rows]
    what = "was read back from memory" if operation == RESTORE else "did not reach the storage in its time"
    title = f"A part of the checkpoint {what} on {target}"
    return finding(
        "checkpoint-cached",
        title,
        f"{title}: {listing(each)}. No finding rests on these times. Use --cache advise or direct, or a larger "
        "--scale.",
        "warning",
        target=target,
        operation=operation,
        case=[row.case for row in rows],
        verdict=[row.verdict for row in rows],
    )
