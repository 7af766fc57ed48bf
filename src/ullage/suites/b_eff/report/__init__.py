# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a b_eff run."""

from typing import Final

from ullage.suites.b_eff.report.charts import CHART
from ullage.suites.b_eff.report.tables import HEADLINES, SECTION

__all__ = ["CHARTS", "HEADLINES", "SECTIONS"]

SECTIONS: Final = (SECTION,)
CHARTS: Final = (CHART,)
