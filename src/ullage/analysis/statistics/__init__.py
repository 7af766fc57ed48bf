# SPDX-License-Identifier: Apache-2.0
"""Pure functions over samples. Nothing is dropped silently and nothing heavy is imported; docs/statistics.md has the
rules, where they are from and how often they are right."""

from statistics import median

from ullage.analysis.statistics.comparison import (
    Comparison,
    ComparisonVerdict,
    Contest,
    beaten_by_best,
    compare_all,
    compare_on_average,
    compare_two,
    level_of_each,
    pairs_on,
)
from ullage.analysis.statistics.dependence import (
    INDEPENDENT,
    Dependence,
    autocorrelation,
    outliers,
    pooled_dependence,
)
from ullage.analysis.statistics.intervals import (
    Interval,
    bootstrap_interval,
    fewest_samples,
    is_look,
    median_interval,
    next_look,
    relative_width,
)
from ullage.analysis.statistics.order import mad, quantile, rank_test
from ullage.analysis.statistics.spread import Sampled, Spread, dependence_within, pooled_spread

__all__ = [
    "INDEPENDENT",
    "Comparison",
    "ComparisonVerdict",
    "Contest",
    "Dependence",
    "Interval",
    "Sampled",
    "Spread",
    "autocorrelation",
    "beaten_by_best",
    "bootstrap_interval",
    "compare_all",
    "compare_on_average",
    "compare_two",
    "dependence_within",
    "fewest_samples",
    "is_look",
    "level_of_each",
    "mad",
    "median",
    "median_interval",
    "next_look",
    "outliers",
    "pairs_on",
    "pooled_dependence",
    "pooled_spread",
    "quantile",
    "rank_test",
    "relative_width",
]
