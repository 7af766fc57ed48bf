# SPDX-License-Identifier: Apache-2.0
"""How much slower are messages while others load the network?

The tests are those of GPCNeT. Some ranks, the victims, exchange small and large messages in random rings and add up a
number. They do so first alone, then while the other ranks all send to one rank, or each to each. The suite reports the
mean and the tail of the slowdown.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite(
    "congestion", __doc__ or "", "suite:CongestionOptions", "suite:prepare_congestion", "suite:summarise"
)
