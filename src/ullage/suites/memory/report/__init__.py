# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a memory run."""

from typing import Final

from ullage.suites.memory.report.charts import BANDWIDTH_CHART, LOAD_CHART, TIME_CHART
from ullage.suites.memory.report.tables import HEADLINES, SECTION

__all__ = ["CHARTS", "HEADLINES", "SECTIONS"]

SECTIONS: Final = (SECTION,)
CHARTS: Final = (BANDWIDTH_CHART, TIME_CHART, LOAD_CHART)
