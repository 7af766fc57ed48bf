# SPDX-License-Identifier: Apache-2.0
"""What the corners of the original's plots say: release, scheduled time, and what replaced shared file pointers."""

from dataclasses import dataclass
from typing import Final

from ullage.errors import UserError
from ullage.report.b_eff_io.sheets import Sheet
from ullage.report.data import ReportData
from ullage.runs.options.reading import read_options
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.rows import SUITE
from ullage.units import format_time

SCHEDULED: Final = "scheduled_s"
NO_SHARED: Final = "no_shared_pointer"
"""Parameters of the value of an imported run, whose request does not say so."""


@dataclass(frozen=True)
class Schedule:
    """``release``: of the program or of the rule. ``partition_s``: T of each partition; None: not known."""

    release: str = ""
    partition_s: float | None = None
    shared_pointer: bool = True


def schedule_of(data: ReportData, sheet: Sheet) -> Schedule:
    """From the request of a run, or from what an imported summary printed."""
    request = data.request
    if request is not None and request.suite == SUITE:
        try:
            options = read_options(BEffIoOptions, request)
        except UserError:
            return Schedule()
        return Schedule(f"rule of rel. {options.rule}", options.partition_s, options.shared_pointer)
    params = sheet.value.params if sheet.value is not None else {}
    seconds = params.get(SCHEDULED)
    release = data.summary.versions.get(SUITE, "")
    return Schedule(
        f"rel. {release}" if release else "",
        float(seconds) if isinstance(seconds, (int, float)) else None,
        not params.get(NO_SHARED, False),
    )


def corner_lines(schedule: Schedule, sheet: Sheet) -> list[str]:
    """``b_eff_io``, release, T and n."""
    time = f"T={format_time(schedule.partition_s)}" if schedule.partition_s is not None else ""
    return [line for line in (SUITE, schedule.release, time, f"n={sheet.ranks}") if line]
