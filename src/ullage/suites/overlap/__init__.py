# SPDX-License-Identifier: Apache-2.0
"""How much of the I/O overlaps with computation?

Each rank begins transfers, computes, and waits for them. Helper threads, MPI-IO and io_uring are compared by transfer
size and depth. I/O alone, computation alone and blocking calls are measured in turn with them.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("overlap", __doc__ or "", "suite:OverlapOptions", "suite:prepare", "suite:summarise")
