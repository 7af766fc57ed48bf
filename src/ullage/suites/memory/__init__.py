# SPDX-License-Identifier: Apache-2.0
"""How fast is memory: bandwidth and access time of every level, copies in blocks, cores, load, NUMA, random updates.

Measures what each cache and the memory behind them carry and how long a load from them takes, with the size of pages,
the kind of stores and the number of threads as part of every row; where mbw, sysbench or HPC Challenge are installed,
their numbers stand beside.
"""

from ullage.runs.suite import UsualQuickSuite

# The quick form: fewer sizes, one thread and all.
SUITE = UsualQuickSuite(
    "memory", __doc__ or "", "options:MemoryOptions", "prepare:prepare_memory", "summarise:summarise"
)
