# SPDX-License-Identifier: Apache-2.0
"""What do mmap and persistent stores gain over system calls?

The suite writes and reads files by posix, mmap, pmem and direct I/O, on persistent memory, in memory and on drives. It
states from which transfer size on system calls stop mattering, and what is really persistent.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("pmem", __doc__ or "", "options:PmemOptions", "suite:prepare_pmem", "suite:summarise")
