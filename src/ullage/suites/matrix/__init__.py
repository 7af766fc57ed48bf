# SPDX-License-Identifier: Apache-2.0
"""How fast are IOzone's tests, by size of file and record?

The suite runs IOzone's thirteen tests. One rank writes, rewrites, reads and rereads files in order, at random, backward
and mixed. It does so through lseek, pread, preadv and the C library. Each test is shown as a map. Each number says
whether a cache or the target answered.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("matrix", __doc__ or "", "suite:MatrixOptions", "suite:prepare_matrix", "findings:summarise")
