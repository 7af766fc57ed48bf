# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a memory run."""

from typing import Final

from ullage.report.answers import AnswerRule
from ullage.suites.memory.report.charts import BANDWIDTH_CHART, LOAD_CHART, TIME_CHART
from ullage.suites.memory.report.tables import HEADLINES, SECTION

__all__ = ["ANSWERS", "CHARTS", "HEADLINES", "SECTIONS"]

SECTIONS: Final = (SECTION,)
CHARTS: Final = (BANDWIDTH_CHART, TIME_CHART, LOAD_CHART)

# -- the answer of the suite -------------------------------------------------------------------------------------------

ANSWERS: Final = (
    AnswerRule(
        "memory",
        "How fast is memory, and what would make it faster?",
        (
            "memory-bandwidth",
            "memory-latency",
            "memory-threads",
            "non-temporal",
            "huge-pages",
            "numa",
            "cache-ends",
            "parallel-loads",
            "loaded-latency",
        ),
        remarks=("write-allocate",),
    ),
)
