# SPDX-License-Identifier: Apache-2.0
"""How fast are an accelerator's memory, units and link?

Each device that CUDA or OpenCL shows reads, writes, copies and adds arrays in its own memory. It does multiply-adds,
exchanges data with the host, and runs the smallest kernel. All results are checked.
"""

from ullage.runs.suite import MOST, UsualQuickSuite

SUITE = UsualQuickSuite(
    "gpu",
    __doc__ or "",
    "suite:GpuOptions",
    "suite:prepare_gpu",
    "suite:summarise",
    {"quick": True, "repetitions": 6},
    (
        {"kernel": "triad"},
        {"type": "fp64", "rounds": MOST},
        {"direction": "to-device", "host_memory": "pinned", "size_bytes": MOST},
    ),
)
