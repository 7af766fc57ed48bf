# SPDX-License-Identifier: Apache-2.0
"""What others took of the machine while the suites of a run measured, by the kernel's counters."""

from typing import Final

from ullage.report.contamination import GRADES, counters
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData


def contamination(data: ReportData) -> Content | None:
    """Return the counters by suite; None for the result of one suite, whose rows have their grades."""
    found = counters(data) if data.summary.parts else Content()
    return found if found.grids else None


SECTIONS: Final = (
    Section(
        name="contamination",
        title="Work of others",
        doc=f"Other programs, and other guests of the host, took this share of the processors' time. {GRADES}",
        order=81,
        part="noise",
        build=contamination,
    ),
)
