# SPDX-License-Identifier: Apache-2.0
"""How many accelerators does the storage keep busy?

Threads read training samples in shuffled order, ahead of accelerators that compute with each batch for a fixed time.
The suite measures the share of time that the accelerators compute (AU), and searches their largest number.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("loader", __doc__ or "", "options:LoaderOptions", "prepare:prepare_loader", "findings:summarise")
