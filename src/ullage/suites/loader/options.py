# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``loader``, as they stand in request.json, and the published training workloads."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from ullage.runs.options import groups
from ullage.runs.options.declared import REPETITIONS, Change, OfEngine, Option
from ullage.runs.options.kinds import CountAxis, Share, Size
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import Backend

PresetName: TypeAlias = Literal["unet3d", "resnet50", "cosmoflow"]
AcceleratorName: TypeAlias = Literal["h100", "a100"]

# MLPerf Storage v2.0, rules and configurations: the samples suffice for so many steps of each accelerator, and take so
# many times the memory at least.
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


_QUICK_BYTES: Final = 256 << 20
_QUICK_EPOCH_S: Final = 3.0
_PAGE: Final = 4096
_PRESET: Final = "cosmoflow"
_ACCELERATOR: Final = "h100"


class LoaderOptions(
    groups.QuickOnCommandLine,
    groups.WatchdogOptions,
    groups.ResumableOptions,
    groups.RanksOptions,
    groups.MachineOptions,
    groups.CeilingOptions,
    groups.TimeBudgetOptions,
    groups.SeedOptions,
    groups.SpaceOptions,
):
    """The options of suite ``loader``. ``samples``: null until the room at the targets is known."""

    workload = "loader"
    metrics = (
        "accelerator_use run_use least_use sample_rate bandwidth client_cores sample_open sample_read_p50 "
        "sample_read_p99 step_wait_p99 wake_up_late_p99"
    )
    changes = {
        "targets": Change("Keep the samples at this place. Repeat the option to compare several places."),
        "ranks": Change(
            "Start at most this many ranks (MPI processes). They share more accelerators than that.",
            unsaid="the number of usable cores",
        ),
        "time_s": Change(usual="2h", quick="30s"),
        "seed": Change("Choose the sizes and orders of the samples. The same seed gives the same."),
        "quick": Change(
            "Take a first look in 30 s: at most 256M of samples, 2 epochs, at most 8 accelerators, 2 repetitions."
        ),
    }

    preset: Annotated[
        PresetName,
        Option(
            "Read the samples of this training workload of MLPerf Storage: their sizes, samples a file, batch, pace, "
            "threads and limit."
        ),
    ] = _PRESET
    accelerator: Annotated[
        AcceleratorName, Option("Compute as fast as this accelerator does.", name="--pace-of", sets=("step_s",))
    ] = _ACCELERATOR
    accelerators: Annotated[
        list[groups.Positive] | None,
        CountAxis(),
        Option(
            "Measure with these numbers of accelerators, for example 1,2,4.",
            unsaid="the largest number that passes is searched",
        ),
    ] = None
    most: Annotated[int, Field(ge=1), Option("Search up to this many accelerators.", usual="32", quick="8", sets=())]
    sample_bytes: Annotated[int | None, Field(ge=_PAGE), OfEngine(name="--sample", unsaid="that of the preset")] = None
    deviation: Annotated[
        int | None,
        OfEngine(
            "deviation_bytes", name="--deviation", unsaid="that of the preset, in proportion where --sample is given"
        ),
    ] = None
    samples_per_file: Annotated[int | None, OfEngine(unsaid="those of the preset")] = None
    batch: Annotated[int | None, OfEngine(unsaid="those of the preset")] = None
    step_s: Annotated[float | None, OfEngine(name="--compute", unsaid="the time of --pace-of in the preset")] = None
    limit: Annotated[
        float | None,
        Field(gt=0, le=1),
        Share(),
        Option("Let a number of accelerators pass from this AU on.", unsaid="that of the preset"),
    ] = None
    samples: Annotated[
        int | None,
        OfEngine(
            unsaid="500 steps of each accelerator or 5 times the memory, as far as there is room; with --quick at most "
            "256M",
            sets=("volume", "volume_bytes"),
        ),
    ] = None
    steps: Annotated[
        int | None,
        Field(ge=2),
        Option("Read only as many samples in an epoch as this many steps take.", unsaid="all samples"),
    ] = None
    epochs: Annotated[int, Field(ge=1), OfEngine(usual="3", quick="2")]
    threads: Annotated[int | None, OfEngine(unsaid="4, or 8 for resnet50")] = None
    ahead: Annotated[int, OfEngine()] = 2
    block: Annotated[
        int,
        Field(ge=_PAGE, multiple_of=_PAGE),
        Size(_PAGE),
        OfEngine("transfer_bytes", name="--block", sets=("block_bytes",)),
    ] = 1 << 20
    cache: Annotated[
        Literal["none", "advise", "direct"],
        Option(
            "Treat the page cache before the first epoch: none, advise (drop the samples from it on every node), or "
            "direct (O_DIRECT)."
        ),
    ] = "advise"
    verify: Annotated[str | None, OfEngine(unsaid="kept, if the backend holds data")] = None
    backend: Backend = "posix"
    repetitions: Annotated[
        groups.Positive,
        Option(
            "Repeat the decisive numbers of accelerators this often. A verdict needs 6 repetitions.",
            usual="6",
            quick="2",
            order=REPETITIONS,
        ),
    ]

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the number of samples of a first look."""
        settled = dict(said)
        preset = next((one for name, one in PRESETS.items() if name == said.get("preset", _PRESET)), None)
        if said.get("quick") and "samples" not in settled and preset is not None:
            size, batch, pace = said.get("sample_bytes"), said.get("batch"), said.get("step_s")
            size = size if isinstance(size, int) else preset.sample_bytes
            batch = batch if isinstance(batch, int) else preset.batch
            pace = pace if isinstance(pace, (int, float)) else preset.step_s[_ACCELERATOR]
            steps = max(round(_QUICK_EPOCH_S / pace), 2) if pace > 0 else _QUICK_BYTES
            settled["samples"] = max(min(_QUICK_BYTES // size, steps * batch), 2 * batch)
        return super().settle(settled)

    @model_validator(mode="after")
    def _passes_are_of_a_pace(self) -> Self:
        if self.step_s == 0 and self.accelerators is None:
            what = "without computation no accelerator is ever busy, so no number of them passes"
            raise OptionError("accelerators", what, "give their numbers, for example --accelerators 1,2,4")
        return self

    @property
    def of(self) -> Preset:
        """The preset."""
        return PRESETS[self.preset]

    @property
    def mean_bytes(self) -> int:
        """Mean bytes of a sample."""
        return self.sample_bytes or self.of.sample_bytes

    @property
    def deviation_bytes(self) -> int:
        """Standard deviation of the bytes of a sample, in proportion where another mean is asked for."""
        if self.deviation is not None:
            return self.deviation
        return round(self.of.deviation * self.mean_bytes / self.of.sample_bytes)

    @property
    def batch_samples(self) -> int:
        """Samples of a step."""
        return self.batch or self.of.batch

    @property
    def pace_s(self) -> float:
        """Seconds of a step."""
        return self.of.step_s[self.accelerator] if self.step_s is None else self.step_s

    @property
    def least_use(self) -> float:
        """The AU from which on a number of accelerators passes."""
        return self.of.limit if self.limit is None else self.limit

    @property
    def is_of_preset_samples(self) -> bool:
        """Whether the samples are those of the preset: nothing of their sizes was said to be otherwise."""
        own = self.mean_bytes, self.deviation_bytes
        return own == (self.of.sample_bytes, self.of.deviation)

    @property
    def is_of_preset(self) -> bool:
        """Whether samples, batch and pace are those of the preset, so that its name stands for the training."""
        is_paced = self.batch_samples == self.of.batch and self.pace_s == self.of.step_s[self.accelerator]
        return self.is_of_preset_samples and is_paced

    @property
    def most_accelerators(self) -> int:
        """The largest number that may be measured."""
        return max(self.accelerators) if self.accelerators else self.most
