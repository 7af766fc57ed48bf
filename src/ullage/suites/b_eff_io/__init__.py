# SPDX-License-Identifier: Apache-2.0
"""How fast do all processes together use MPI-IO (b_eff_io)?

The suite combines five ways to share a file with eight chunk sizes, each also 8 bytes longer. It writes, rewrites and
reads within a scheduled time, with several numbers of processes. It gives one number, averaged over patterns, for the
parallel I/O of a machine, and the rate of each pattern.
"""

from ullage.runs.suite import FIRST, UsualQuickSuite

# The quick form: two processes, in 20 s. That is far from the rules, and says so.
SUITE = UsualQuickSuite(
    "b_eff_io",
    __doc__ or "",
    "options:BEffIoOptions",
    "prepare:prepare_b_eff_io",
    "summarise:summarise",
    {"targets": FIRST, "ranks": 2, "quick": True},
)
