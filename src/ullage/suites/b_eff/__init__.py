# SPDX-License-Identifier: Apache-2.0
"""How fast do all processes together exchange data (b_eff)?

The suite times six sets of rings and thirty random rings with 21 message sizes, 3 ways to send and 3 repetitions. It
gives one number, averaged over patterns and sizes, for the communication of a machine, curves over the message size,
and 13 further patterns.
"""

from ullage.runs.suite import UsualSuite

# No part of an overview: its thousand rows are of 21 sizes and 49 patterns, and its value needs all of them.
SUITE = UsualSuite("b_eff", __doc__ or "", "options:BEffOptions", "suite:prepare_b_eff", "suite:summarise")
