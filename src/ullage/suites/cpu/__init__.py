# SPDX-License-Identifier: Apache-2.0
"""How fast do the cores compute, instruction set by instruction set, and how near do DGEMM and a solve come to it?

Every arithmetic kernel this CPU can run, with the clock measured beside each; then matrix products and the linear
solve that gives the HPL number, with the BLAS of the site and that of the package. Where hpcc is installed, its HPL and
DGEMM stand beside.
"""

from ullage.runs.suite import UsualQuickSuite

# The quick form: the best kernel of each type, with 1 thread and with all.
SUITE = UsualQuickSuite("cpu", __doc__ or "", "options:CpuOptions", "prepare:prepare_cpu", "summarise:summarise")
