# SPDX-License-Identifier: Apache-2.0
"""What a report shows of collective operations."""

from typing import Final

from ullage.suites.collectives.report.charts import OVERLAP_CHART, TIME_CHART
from ullage.suites.collectives.report.tables import HEADLINES, SECTION

__all__ = ["CHARTS", "HEADLINES", "SECTIONS"]

SECTIONS: Final = (SECTION,)
CHARTS: Final = (TIME_CHART, OVERLAP_CHART)
