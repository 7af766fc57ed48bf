# SPDX-License-Identifier: Apache-2.0
"""How fast is the memory of each accelerator?

Each device that OpenCL shows reads, writes, copies and adds arrays in its own memory. Every element is checked.
"""

from ullage.runs.suite import UsualSuite

SUITE = UsualSuite("gpu", __doc__ or "", "suite:GpuOptions", "suite:prepare_gpu", "suite:summarise")
