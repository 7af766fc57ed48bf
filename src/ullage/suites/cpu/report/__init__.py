# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a cpu run."""

from typing import Final

from ullage.suites.cpu.report.charts import RATE_CHART, ROOFLINE_CHART
from ullage.suites.cpu.report.tables import HEADLINES, SECTION

__all__ = ["CHARTS", "HEADLINES", "SECTIONS"]

SECTIONS: Final = (SECTION,)
CHARTS: Final = (RATE_CHART, ROOFLINE_CHART)
