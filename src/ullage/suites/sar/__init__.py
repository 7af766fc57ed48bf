# SPDX-License-Identifier: Apache-2.0
"""How many radar images a second does storage take?

Raw data is read, and images are stored on a grid of locations. Pairs of them are read again, with parts of them, and
what was found is looked up. This is the I/O of SSCA #3, without its computation.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("sar", __doc__ or "", "suite:SarOptions", "suite:prepare", "suite:summarise")
