# SPDX-License-Identifier: Apache-2.0
"""From the records of an io_bench to rows with their share of the peak, and findings."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings import find_all
from ullage.analysis.findings.study import compare_rows
from ullage.analysis.findings.words import columns, gain_of, with_gain
from ullage.analysis.statistics import level_of_each
from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import times
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, build_rows
from ullage.runs.ceilings import with_ceilings
from ullage.runs.suite import SuiteSummary
from ullage.suites.io_bench.options import IoBenchOptions
from ullage.units import format_bytes, format_rate

METRIC: Final = "bandwidth"
ENOUGH: Final = 0.9
# The table is as large as it was asked for, nothing extends it, and there is one rank: these say nothing here.
_LEFT_OUT: Final = frozenset({"best", "edge", "scaling", "drop"})


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``. The peak is declared or detected, else the best of this run in that direction."""
    options = IoBenchOptions.model_validate(request.options)
    launches = [file.records for file in result.read_records()]
    rows = with_ceilings(build_rows(launches, context), request.targets, options.machine)
    general = [one for one in find_all(rows, failed_cases(launches), context.level) if one.kind not in _LEFT_OUT]
    return SuiteSummary(rows, [*enough(sound_rows(rows), context.level), *general])


def enough(rows: Sequence[Row], level: float) -> list[Finding]:
    """The smallest record with which each stream has nine tenths of its own best."""
    streams: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.metric == METRIC and not row.is_invalid:
            key = (row.target, str(row.params.get("order", "sequential")), str(row.params.get("access", "")))
            streams.setdefault(key, []).append(row)
    own = level_of_each(level, map(len, streams.values()))
    return [_enough(*key, sorted(line, key=_record), own) for key, line in streams.items() if len(line) > 1]


def _record(row: Row) -> int:
    return int(row.params.get("block_bytes", 0))


def _enough(target: str, order: str, access: str, line: Sequence[Row], level: float) -> Finding:
    best = max(line, key=lambda row: row.median)
    first = next(row for row in line if row.median >= ENOUGH * best.median)
    share = "" if best.share is None else f", {best.share:.0%} of the peak"
    size = format_bytes(_record(first))
    who = f"{target} {order} {access}s reach"
    text = (
        f"{who} at most {format_rate(best.median)}{share}. {size} is the smallest record that reaches "
        f"{ENOUGH:.0%} of that."
    )
    # Of two in the middle the better one: what is gained is not said of the worst that was tried.
    usual = sorted(line, key=lambda row: row.median)[len(line) // 2]
    gain = gain_of(compare_rows(first, usual, level, None))
    if gain is not None:
        text += f" It is {times(gain.factor)} as fast as {format_bytes(_record(usual))}."
    title = f"{who} {ENOUGH:.0%} of their best with records of {size}"
    numbers = columns(
        target=target,
        order=order,
        access=access,
        record_bytes=[_record(row) for row in line],
        bytes_per_s=[row.median for row in line],
        enough=_record(first),
    )
    found = Finding(kind="record-size", title=title, text=text, numbers=numbers)
    return with_gain(found, gain, f"--record {size}")
