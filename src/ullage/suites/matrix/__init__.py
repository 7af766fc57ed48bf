# SPDX-License-Identifier: Apache-2.0
"""How fast are files of every size with records of every size: IOzone's thirteen tests, each as a map?

Writes, reads, rereads, jumps, goes backward, mixes, through lseek, pread, preadv and the C library, on one rank, and
says of each number whether a cache or the target answered.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("matrix", __doc__ or "", "options:MatrixOptions", "prepare:prepare_matrix", "summarise:summarise")
