# SPDX-License-Identifier: Apache-2.0
"""How fast does a plasma code write its particles?

VPIC writes eight variables of each particle, step after step with a computation in between. The suite compares layouts
in memory and in the file, collective with independent transfers, and HDF5 with a plain file by MPI-IO.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("vpic", __doc__ or "", "suite:VpicOptions", "suite:prepare", "suite:summarise")
