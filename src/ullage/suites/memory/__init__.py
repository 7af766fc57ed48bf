# SPDX-License-Identifier: Apache-2.0
"""How fast is each level of memory, in bandwidth and latency?

The suite measures the bandwidth of each cache and of the memory, and how long a load from each takes. Page size, kind
of stores and number of threads are part of every row. Block copies, transfers between cores, loaded latency, NUMA and
random updates follow. If mbw, sysbench or HPC Challenge is installed, it runs for comparison.
"""

from ullage.runs.suite import MOST, UsualQuickSuite

# The quick form: fewer sizes, one thread and all.
SUITE = UsualQuickSuite(
    "memory",
    __doc__ or "",
    "options:MemoryOptions",
    "prepare:prepare_memory",
    "rows:summarise",
    headlines=tuple(
        {"kernel": kernel, "threads": MOST, "working_set_bytes": MOST, "block_bytes": 0}
        for kernel in ("triad", "copy", "read")
    ),
)
