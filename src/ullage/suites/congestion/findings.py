# SPDX-License-Identifier: Apache-2.0
"""From the records of a congestion run to rows and findings: what the load does to the victims."""

from collections.abc import Sequence
from typing import Final, Literal

from ullage.analysis.findings.doubts import find_failures
from ullage.analysis.findings.study import make_study
from ullage.analysis.findings.words import columns
from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, times
from ullage.results.failed_cases import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.suite import SuiteSummary
from ullage.suites.congestion.rows import IMPACT, IMPACT_P99, congestion_rows

# Below it the victims hardly notice, above it programs do.
LITTLE: Final = 1.5
MUCH: Final = 5.0
Severity = Literal["info", "advice", "warning"]


def findings_of(rows: Sequence[Row]) -> list[Finding]:
    """One for each load, and what must be known of all of them."""
    impacts = [row for row in rows if row.metric in (IMPACT, IMPACT_P99)]
    loads = list(dict.fromkeys(str(row.params["load"]) for row in impacts))
    return [*_crowded(impacts), *(_of_load(load, [r for r in impacts if r.params["load"] == load]) for load in loads)]


def _crowded(rows: Sequence[Row]) -> list[Finding]:
    if not any(row.has_flag(OVERSUBSCRIBED) for row in rows):
        return []
    text = (
        "There were fewer cores than ranks: the load took the victims' cores, and the impacts say how the kernel "
        "shares them, nothing of a network."
    )
    return [Finding(kind="oversubscribed", text=text, severity="warning")]


def _of_load(load: str, rows: Sequence[Row]) -> Finding:
    mean = {str(row.params["test"]): row for row in rows if row.metric == IMPACT}
    tail = {str(row.params["test"]): row for row in rows if row.metric == IMPACT_P99}
    words = [f"{test} {times(row.median)} (p99 {_tail(tail.get(test))})" for test, row in mean.items()]
    first = rows[0]
    victims, ranks = int(first.params["victims"]), int(first.params["ranks"])
    text = (
        f"Under an {load} of {ranks - victims} ranks the messages of {victims} victims take, of what they take alone: "
        f"{listing(words)}."
    )
    worst = max(row.median for row in rows)
    crowded = any(row.has_flag(OVERSUBSCRIBED) for row in rows)
    severity: Severity = "info" if worst < LITTLE or crowded else "advice" if worst < MUCH else "warning"
    if severity == "warning":
        text += " Keep jobs with such patterns apart, or ask for congestion control of the network."
    numbers = columns(
        load=load,
        ranks=ranks,
        victims=victims,
        test=list(mean),
        impact=[row.median for row in mean.values()],
        impact_p99=[row.median for row in tail.values()],
    )
    return Finding(kind="congestion", text=text, severity=severity, numbers=numbers)


def _tail(row: Row | None) -> str:
    return "unknown" if row is None else times(row.median)


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    launches = [file.records for file in result.read_records()]
    rows = congestion_rows(launches, context)
    findings = find_failures(make_study(rows, failed_cases(launches), context.level))
    return SuiteSummary(rows, [*findings, *findings_of(rows)])
