# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``noise``, as they stand in request.json."""

from collections.abc import Mapping
from typing import ClassVar

from ullage.runs.kernels.options import CPU, KernelOptions
from ullage.runs.options.declared import Change
from ullage.runs.options.each_node import EachNodeOptions


class NoiseOptions(EachNodeOptions, KernelOptions):
    """The options of suite ``noise``: those of all kernels."""

    at = (CPU,)
    changes: ClassVar[Mapping[str, Change]] = {
        "quick": Change("Measure with 1 thread and with all threads, each 3 times.")
    }
