# SPDX-License-Identifier: Apache-2.0
"""What an operation costs the ranks, as rows of a trial: suites that have no such rows have it in their records."""

from dataclasses import replace

from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.results.rows import build_rows
from ullage.runs.summary import row_context

METRIC = "cpu_time"
"""User and system time of all ranks over the operations of a phase, in s/op (analysis/metrics)."""


def with_cost(summary: Summary, result: ResultFolder) -> Summary:
    """Return ``summary`` with a row of the processor time an operation takes, for each phase that states it.

    A summary that has such rows stays as it is.
    """
    if any(row.metric == METRIC for row in summary.rows):
        return summary
    context = replace(row_context(result.read_request(), result.read_system()), metrics=(METRIC,))
    found = build_rows([file.records for file in result.read_records()], context)
    rows = [row.model_copy(update={"suite": summary.suite}) for row in found if row.repetitions]
    return summary.model_copy(update={"rows": [*summary.rows, *rows]})
