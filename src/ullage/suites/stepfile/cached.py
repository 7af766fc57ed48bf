# SPDX-License-Identifier: Apache-2.0
"""Which share of the adjoint's reads the page cache served, by counters, and which one its size lets expect."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.analysis.statistics import median
from ullage.analysis.stepmodel import cached_share, reading_order
from ullage.analysis.verdicts import cache_verdict, combine_verdicts
from ullage.grouping import grouped
from ullage.model.record import CaseRecord
from ullage.model.summary import Finding, Row
from ullage.quantity import percent
from ullage.results.records import AnyRecord
from ullage.results.rows import Measured, RowContext, TargetFacts, join
from ullage.suites.stepfile.findings import who_of
from ullage.units import format_volume

_ADJOINT: Final = "adjoint"
# From this share on, all reads count as served by the cache, and nothing is said.
_WHOLE: Final = 0.95


def measured_shares(launches: Sequence[Iterable[AnyRecord]], context: RowContext) -> dict[str, float]:
    """Return the share of the reads that did not come from the storage, by case, where counters tell.

    It is the median over the repetitions.
    """
    cases = grouped((item.case.case, item) for item in join(launches) if item.phase.phase == _ADJOINT)
    shares = {case: _shares(items, context) for case, items in cases.items()}
    return {case: median(known) for case, known in shares.items() if known}


def _shares(measured: Iterable[Measured], context: RowContext) -> list[float]:
    found: list[float] = []
    for item in measured:
        facts = context.targets.get(item.case.target, TargetFacts())
        if not facts.holds_data or facts.is_memory:
            continue
        share = combine_verdicts([cache_verdict(item.phase, remote_target=facts.is_remote)]).share
        if share is not None:
            found.append(1 - min(1.0, share))
    return found


def cache_findings(
    rows: Iterable[Row], cases: Mapping[str, CaseRecord], measured: Mapping[str, float], held_bytes: int | None
) -> list[Finding]:
    """State both shares for each case whose reads the page cache served in part, or should have.

    ``rows``: sound ones. ``held_bytes``: that the page cache of a node can hold; None where that is not known.
    """
    found: list[Finding] = []
    for row in rows:
        case = cases[row.case]
        is_asked = row.metric == "phase_time" and row.params["access"] == _ADJOINT and row.case in measured
        if not is_asked or case.workload_parameters.get("cache") == "drop" or held_bytes is None:
            continue
        expected = expected_share(row, held_bytes, removes=case.workload_parameters.get("remove_read") is True)
        if expected is not None and min(expected, measured[row.case]) < _WHOLE:
            found.append(_cached(row, expected, measured[row.case], held_bytes))
    return found


def expected_share(row: Row, held_bytes: int, *, removes: bool) -> float | None:
    """Return the share that a page cache of ``held_bytes`` on each node serves; None for an order that computes again.

    See ``cached_share``.
    """
    order, steps = str(row.params["order"]), int(row.params["steps"])
    if order.startswith("revolve"):
        return None
    of_a_step = int(row.params["ranks"]) * int(row.params["block_bytes"])
    held = held_bytes * int(row.params["nodes"]) // of_a_step
    return cached_share(reading_order(order, steps), held, removes=removes)


def _cached(row: Row, expected: float, measured: float, held_bytes: int) -> Finding:
    held = format_volume(held_bytes)
    text = (
        f"{percent(measured)} of the reads in the adjoint phase ({who_of(row)}) did not come from the storage. A page "
        f"cache of {held} on a node serves {percent(expected)}, if it drops the oldest states first."
    )
    title = f"{percent(measured)} of the adjoint's reads on {row.target} come from the page cache"
    numbers = {"predicted": expected, "measured": measured, "page_cache_bytes": held_bytes}
    return finding("stepfile-cache", title, text, "info", case=row.case, **numbers)
