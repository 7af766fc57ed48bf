# SPDX-License-Identifier: Apache-2.0
"""Which nodes, and which links between them, are slow?

The suite measures all pairs in both directions, bisections and incast. On a single node it measures between ranks. A
statistical test tells a slow node from a slow link.
"""

from ullage.runs.suite import UsualQuickSuite

# The quick form: a rank a core.
SUITE = UsualQuickSuite(
    "pairs", __doc__ or "", "suite:PairsOptions", "suite:prepare_pairs", "summarise:summarise", {"quick": True}
)
