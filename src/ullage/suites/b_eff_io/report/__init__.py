# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a b_eff_io run."""

from typing import Final

from ullage.report.answers import AnswerRule
from ullage.suites.b_eff_io.report.charts import CHART, HINT_CHART
from ullage.suites.b_eff_io.report.tables import HEADLINES, SECTION

__all__ = ["ANSWERS", "CHARTS", "HEADLINES", "SECTIONS"]

SECTIONS: Final = (SECTION,)
CHARTS: Final = (CHART, HINT_CHART)

# -- the answer of the suite -------------------------------------------------------------------------------------------

ANSWERS: Final = (
    AnswerRule(
        "b_eff_io",
        "How much data do all ranks write and read through MPI-IO?",
        ("b_eff_io", "b_eff_io-hint-sets", "b_eff_io-types", "b_eff_io-odd-sizes", "b_eff_io-read-write"),
        remarks=(
            "b_eff_io-invalid",
            "b_eff_io-cut",
            "b_eff_io-cache",
            "b_eff_io-time",
            "b_eff_io-memory-time",
            "b_eff_io-conditions",
        ),
    ),
)
