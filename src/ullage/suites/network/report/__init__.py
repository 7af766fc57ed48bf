# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a network run."""

from typing import Final

from ullage.suites.network.report.charts import LATENCY_CHART, RATE_CHART
from ullage.suites.network.report.tables import HEADLINES, SECTION

__all__ = ["CHARTS", "HEADLINES", "SECTIONS"]

SECTIONS: Final = (SECTION,)
CHARTS: Final = (RATE_CHART, LATENCY_CHART)
