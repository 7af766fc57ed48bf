# SPDX-License-Identifier: Apache-2.0
"""How fast is the way between every two nodes, and which links and nodes are slow? All pairs, bisections, incast.

Between the ranks of one node where there is one node only. Every pair is measured in both directions, and what is slow
is named by a test that tells a slow node from a slow link.
"""

from ullage.runs.suite import UsualQuickSuite

# The quick form: two ranks here.
SUITE = UsualQuickSuite(
    "pairs",
    __doc__ or "",
    "options:PairsOptions",
    "prepare:prepare_pairs",
    "summarise:summarise",
    {"ranks": 2, "quick": True},
)
