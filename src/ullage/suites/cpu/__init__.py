# SPDX-License-Identifier: Apache-2.0
"""How fast do the cores compute, and how close does HPL come?

The suite runs every arithmetic kernel that this CPU supports, and measures the clock beside each. Matrix products and
the linear solve that gives the HPL number follow. Both use the BLAS of the site and that of the package. If hpcc is
installed, its HPL and DGEMM run for comparison.
"""

from ullage.runs.suite import MOST, UsualQuickSuite

# The quick form: the best kernel of each type, with 1 thread and with all.
SUITE = UsualQuickSuite(
    "cpu",
    __doc__ or "",
    "options:CpuOptions",
    "prepare:prepare_cpu",
    "findings:summarise",
    headlines=(
        {"type": "fp64", "operation": "fma", "threads": MOST},
        {"type": "fp64", "operation": "fma", "threads": 1},
    ),
)
