# SPDX-License-Identifier: Apache-2.0
"""Random updates of a table a second: HPC Challenge's RandomAccess, whose unit GUPS is 10^9 of these."""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.windows import rate_of

METRIC = Metric(
    "update_rate",
    "update/s",
    "more",
    "random read-modify-write updates of a table over the time of the windows",
    lambda phase: rate_of(phase, "updates"),
)
