# SPDX-License-Identifier: Apache-2.0
"""Pure functions over samples. Nothing is dropped silently, no distribution is assumed, nothing heavy is imported."""

from ullage.analysis.statistics.bootstrap import bootstrap_interval
from ullage.analysis.statistics.comparison import Comparison, ComparisonVerdict, compare
from ullage.analysis.statistics.intervals import (
    Interval,
    median_interval,
    quantile_interval,
    relative_width,
)
from ullage.analysis.statistics.order import mad, median, quantile
from ullage.analysis.statistics.series import Fences, autocorrelation, outliers, tukey_fences

__all__ = [
    "Comparison",
    "ComparisonVerdict",
    "Fences",
    "Interval",
    "autocorrelation",
    "bootstrap_interval",
    "compare",
    "mad",
    "median",
    "median_interval",
    "outliers",
    "quantile",
    "quantile_interval",
    "relative_width",
    "tukey_fences",
]
