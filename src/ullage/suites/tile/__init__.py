# SPDX-License-Identifier: Apache-2.0
"""How fast do ranks write and read the tiles of a data set?

Each rank has one tile of a picture or a field, with overlap to its neighbours. It writes and reads the tile through a
view of the shared file, frame after frame. The suite compares collective and independent calls, and sets of MPI-IO
hints.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("tile", __doc__ or "", "options:TileOptions", "suite:prepare", "suite:summarise")
