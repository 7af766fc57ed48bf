# SPDX-License-Identifier: Apache-2.0
"""How fast does an analysis read the particles of a plasma code?

BD-CATS reads what VPIC has written: all particles, the first ones of each rank, or runs of them. A rank reads what a
rank of another node has written.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("bdcats", __doc__ or "", "suite:BdcatsOptions", "suite:prepare", "suite:summarise")
