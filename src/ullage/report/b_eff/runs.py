# SPDX-License-Identifier: Apache-2.0
"""The runs of b_eff behind a report, read back from its records."""

from typing import Final

from ullage.report.data import ReportData
from ullage.suites.b_eff.measured import WORKLOAD, BEffRun, read_runs
from ullage.suites.b_eff.rows import B_EFF

SUITE: Final = "b_eff"
MEGA: Final = 1e6


def runs_of(data: ReportData) -> list[BEffRun]:
    """With as many repetitions as the rows were made of; none for other suites."""
    counted = [len(row.repetitions) for row in data.rows_of(SUITE) if row.metric == B_EFF]
    if not counted:
        return []
    return read_runs((item for item in data.measured if item.case.workload == WORKLOAD), max(counted))
