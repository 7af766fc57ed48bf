# SPDX-License-Identifier: Apache-2.0
"""Which share of its peak does a disk give one process?

The suite runs six streams of one process. Each writes or reads in order, at random or backward, and bypasses the page
cache if the target supports that. The result is the rate that a single application can expect.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("io_bench", __doc__ or "", "suite:IoBenchOptions", "suite:prepare_io_bench", "suite:summarise")
