# SPDX-License-Identifier: Apache-2.0
"""How long do the collective operations of MPI take?

The suite times blocking operations over ranks and sizes. With --nonblocking it also measures how much of each operation
overlaps with computation. With --one-sided it adds put, get and accumulate. Each operation is compared with other
operations of the same library that do the same work.
"""

from ullage.runs.suite import MOST, UsualQuickSuite

# The quick form: a rank a core, the operations most programs live by.
SUITE = UsualQuickSuite(
    "collectives",
    __doc__ or "",
    "suite:CollectivesOptions",
    "suite:prepare_collectives",
    "findings:summarise",
    {"ranks": [MOST], "quick": True},
)
