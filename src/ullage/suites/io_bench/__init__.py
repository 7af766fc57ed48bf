# SPDX-License-Identifier: Apache-2.0
"""Which share of its peak does a disk give one process: sequential, random and backward, by size of record?

Six streams of one process, each a write or a read in one of three orders, past the page cache where the target
serves that: what a single application's I/O can expect.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite(
    "io_bench", __doc__ or "", "options:IoBenchOptions", "prepare:prepare_io_bench", "summarise:summarise"
)
