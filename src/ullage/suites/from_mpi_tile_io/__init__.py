# SPDX-License-Identifier: Apache-2.0
"""What rate does this mpi-tile-io command line reach here?

The suite reads the flags of MPI Tile I/O and measures a plan that does the same work, repeated, synced and verified. A
flag without an equivalent is an error.
"""

from ullage.command_lines import LineSuite

SUITE = LineSuite("from-mpi-tile-io", __doc__ or "", "translation:FromMpiTileIoOptions")
