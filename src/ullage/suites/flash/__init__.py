# SPDX-License-Identifier: Apache-2.0
"""How fast does a code with adaptive blocks write and restart?

FLASH writes checkpoint and plot files. Each rank writes its blocks of many arrays into one shared file, and then reads
them again as a restart does. The suite compares collective with independent transfers, and HDF5 with a plain file by
MPI-IO.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("flash", __doc__ or "", "suite:FlashOptions", "suite:prepare", "suite:summarise")
