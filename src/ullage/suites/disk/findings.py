# SPDX-License-Identifier: Apache-2.0
"""From how many small requests in flight on a disk gives no more: sentences over rows. Pure."""

from collections.abc import Iterable, Sequence

from ullage.analysis.findings.study import compare_rows
from ullage.analysis.findings.words import columns
from ullage.model.summary import Finding, Row
from ullage.results.rows import threads_at_once
from ullage.units import format_bytes, format_operations

METRIC = "operation_rate"


def in_flight(row: Row) -> int:
    """Requests that all threads of a row of small requests keep under way together."""
    return threads_at_once(row.params) * int(row.params.get("queue_depth", 1))


def saturation(rows: Iterable[Row], level: float) -> list[Finding]:
    """One finding for each target and access with more than one number of small requests in flight."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.metric == METRIC and "queue_depth" in row.params and not row.is_invalid:
            groups.setdefault((row.target, str(row.params.get("access", ""))), []).append(row)
    return [_saturation(sorted(line, key=in_flight), level) for line in groups.values() if len(line) > 1]


def _saturation(line: Sequence[Row], level: float) -> Finding:
    first, last, best = line[0], line[-1], max(line, key=lambda row: row.median)
    enough = next(row for row in line if row is best or compare_rows(best, row, level, None).verdict == "cannot tell")
    target, access = first.target, str(first.params.get("access", "operation"))
    size = format_bytes(int(first.params.get("block_bytes", 0)))
    what = f"{target} random {access}s of {size}"
    rate = format_operations(enough.median)
    if enough is first:
        text = f"{what} gain nothing from more than {in_flight(first)} in flight: {rate}."
    elif enough is last:
        text = f"{what} still gain at {in_flight(last)} in flight: {rate}, {_times(last, first)}."
    else:
        text = f"{what} stop gaining at {in_flight(enough)} in flight: {rate}, {_times(enough, first)}."
    if compare_rows(best, last, level, None).verdict == "faster":
        text += f" {in_flight(last)} give less again: {format_operations(last.median)}."
    numbers = columns(
        target=target,
        access=access,
        in_flight=[in_flight(row) for row in line],
        operations_per_s=[row.median for row in line],
        enough=in_flight(enough),
        best=in_flight(best),
    )
    return Finding(kind="queue-depth", text=text, numbers=numbers)


def _times(row: Row, first: Row) -> str:
    return f"{row.median / first.median:.2f} times what {in_flight(first)} gives"
