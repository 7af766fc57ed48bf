# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a cpu run."""

from typing import Final

from ullage.report.answers import AnswerRule
from ullage.suites.cpu.report.charts import RATE_CHART, ROOFLINE_CHART
from ullage.suites.cpu.report.tables import HEADLINES, SECTION

__all__ = ["ANSWERS", "CHARTS", "HEADLINES", "SECTIONS"]

SECTIONS: Final = (SECTION,)
CHARTS: Final = (RATE_CHART, ROOFLINE_CHART)

# -- the answer of the suite -------------------------------------------------------------------------------------------

ANSWERS: Final = (
    AnswerRule(
        "cpu",
        "How fast do the cores compute, and what holds them back?",
        ("fastest", "solve", "threads", "special-unit", "clock-penalty"),
        remarks=("missing", "no-blas", "detected", "empirical"),
    ),
)
