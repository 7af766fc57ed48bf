# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a b_eff_io run."""

from typing import Final

from ullage.suites.b_eff_io.report.charts import CHART, HINT_CHART
from ullage.suites.b_eff_io.report.tables import HEADLINES, SECTION

__all__ = ["CHARTS", "HEADLINES", "SECTIONS"]

SECTIONS: Final = (SECTION,)
CHARTS: Final = (CHART, HINT_CHART)
