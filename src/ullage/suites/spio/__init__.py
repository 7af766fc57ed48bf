# SPDX-License-Identifier: Apache-2.0
"""How does the rate of sequential streams grow with ranks?

Each rank streams a file of its own, and all files together have the same size with every number of ranks. The ranks
write, read their own files, read those of a neighbour and read their own again.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("spio", __doc__ or "", "suite:SpioOptions", "suite:prepare", "suite:summarise")
