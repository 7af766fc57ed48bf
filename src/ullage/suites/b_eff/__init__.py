# SPDX-License-Identifier: Apache-2.0
"""How much data do all processes together exchange a second, averaged over message sizes and patterns (b_eff)?

Six sets of rings and thirty random rings, each with 21 message sizes, by three ways to send, three times: one number
for the communication of a machine, its curves over the message size, and thirteen further patterns beside it.
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
