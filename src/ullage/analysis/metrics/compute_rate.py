# SPDX-License-Identifier: Apache-2.0
"""Arithmetic operations over the time of the windows, all threads together.

An FMA and a step of a dot product count 2 a lane; gemm counts 2 n^3, a solve 2/3 n^3 + 3/2 n^2 as HPL does.
"""

from ullage.analysis.metrics import Metric
from ullage.analysis.metrics.windows import rate_of

METRIC = Metric(
    "compute_rate",
    "op/s",
    "more",
    "arithmetic operations of all threads over the time of the windows",
    lambda phase: rate_of(phase, "operations"),
)
