# SPDX-License-Identifier: Apache-2.0
"""How fast do all processes together exchange data (b_eff)?

The suite times six sets of rings and thirty random rings with 21 message sizes, 3 ways to send and 3 repetitions. It
gives one number, averaged over patterns and sizes, for the communication of a machine, curves over the message size,
and 13 further patterns.
"""

from typing import Final

from ullage.runs.suite import UsualQuickSuite

_QUICK_S: Final = 12.0

# The quick form: two processes, short loops, messages of up to 1 MiB.
SUITE = UsualQuickSuite(
    "b_eff",
    __doc__ or "",
    "options:BEffOptions",
    "prepare:prepare_b_eff",
    "summarise:summarise",
    {"ranks": 2, "quick": True, "time_s": _QUICK_S},
)
