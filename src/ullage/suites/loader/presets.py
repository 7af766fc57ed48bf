# SPDX-License-Identifier: Apache-2.0
"""Published training workloads: their samples, batches and paces (MLPerf Storage v2.0, rules and configurations)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

PresetName: TypeAlias = Literal["unet3d", "resnet50", "cosmoflow"]
AcceleratorName: TypeAlias = Literal["h100", "a100"]

# Steps of each accelerator that the samples must suffice for, and how often the memory must hold them at least.
RULE_STEPS: Final = 500
RULE_MEMORIES: Final = 5


@dataclass(frozen=True)
class Preset:
    """A training workload. ``deviation``: standard deviation of the bytes; ``step_s``: by accelerator.

    ``limit``: the least AU with which a number of accelerators passes.
    """

    sample_bytes: int
    deviation: int
    samples_per_file: int
    batch: int
    step_s: Mapping[AcceleratorName, float]
    limit: float
    threads: int


PRESETS: Final[Mapping[PresetName, Preset]] = {
    "unet3d": Preset(146_600_628, 68_341_808, 1, 7, {"h100": 0.323, "a100": 0.636}, 0.9, 4),
    "resnet50": Preset(114_660, 0, 1251, 400, {"h100": 0.224, "a100": 0.435}, 0.9, 8),
    "cosmoflow": Preset(2_828_486, 71_311, 1, 1, {"h100": 0.0035, "a100": 0.00551}, 0.7, 4),
}


def rule_samples(sample_bytes: int, batch: int, accelerators: int, memory_bytes: int) -> int:
    """Return the fewest samples of a published run: max(500 steps x batch x accelerators, 5 x memory).

    ``memory_bytes``: of all nodes that read.
    """
    return max(RULE_STEPS * batch * accelerators, -(-RULE_MEMORIES * memory_bytes // sample_bytes))
