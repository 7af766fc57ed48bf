# SPDX-License-Identifier: Apache-2.0
"""How much slower do a few ranks' messages become when the others fill the network? Mean and tail, by GPCNeT's tests.

Some ranks exchange small and large messages in random rings and add up a number, first alone, then while the others all
send to one of them, or each to each.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite(
    "congestion", __doc__ or "", "options:CongestionOptions", "prepare:prepare_congestion", "findings:summarise"
)
