# SPDX-License-Identifier: Apache-2.0
"""How long do collective operations of MPI take, over ranks and sizes? Which of them are slower than they need to be?

Blocking ones, with --nonblocking what of them hides behind computation, with --one-sided put, get and accumulate. Each
operation is held against others of the same library that do its work.
"""

from ullage.runs.suite import UsualQuickSuite

# The quick form: two ranks, the operations most programs live by.
SUITE = UsualQuickSuite(
    "collectives",
    __doc__ or "",
    "options:CollectivesOptions",
    "prepare:prepare_collectives",
    "findings:summarise",
    {"ranks": [2], "quick": True},
)
