# SPDX-License-Identifier: Apache-2.0
"""The options of both suites of particle files, as they stand in request.json."""

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import (
    BindOptions,
    QuickOnCommandLine,
    RankAxisOptions,
    RunOptions,
    cores_of_nodes,
)
from ullage.runs.options.kinds import Duration, Names
from ullage.runs.options.model import OptionError

LAYOUTS: Final[Mapping[str, tuple[str, str]]] = {
    "CC": ("contiguous", "contiguous"),
    "CI": ("contiguous", "interleaved"),
    "IC": ("interleaved", "contiguous"),
    "II": ("interleaved", "interleaved"),
}
"""Order in memory and in the file, by the names of h5bench."""
FORMATS: Final = ("raw", "hdf5")
ACCESSES: Final = ("independent", "collective")
PARTICLE_BYTES: Final = 32
METRICS: Final = (
    "observed_bandwidth",
    "raw_bandwidth",
    "phase_time",
    "raw_time",
    "open_time",
    "sync_time",
    "close_time",
    "latency_p50",
    "latency_max",
)


class ParticleOptions(QuickOnCommandLine, BindOptions, RankAxisOptions, RunOptions):
    """Words of ``layouts``, ``formats`` and ``transfers`` are as typed. ``particles``: of a rank."""

    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Keep the file at this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="the number of usable cores"),
        "time_s": Change(usual="10m", quick="30s"),
        "quick": Change("Take a first look in 30 s: 65,536 particles of each rank, 3 steps."),
    }

    particles: Annotated[
        int,
        Field(ge=1),
        Option(
            "Give each rank this many particles of 32 bytes.",
            unsaid="8388608, as h5bench; with --quick 65536",
            sets=("particles", "volume"),
        ),
    ] = 8 << 20
    steps: Annotated[
        int,
        Field(ge=1),
        Option("Move the particles of this many time steps.", unsaid="5, as h5bench; with --quick 3", sets=("steps",)),
    ] = 5
    layouts: Annotated[
        list[str],
        Field(min_length=1),
        Names(sorted_=False),
        Option(
            "Use these layouts: CC, CI, IC, II. The first letter is the order in memory, the second that in the file. "
            "C keeps each variable contiguous, I interleaves the variables of a particle.",
            name="--layout",
            usual="CC,CI,IC,II",
            sets=("layout",),
        ),
    ]
    formats: Annotated[
        list[str],
        Field(min_length=1),
        Names(sorted_=False),
        Option(
            "Use these formats: raw (values behind a header of Ullage, by MPI-IO), hdf5.",
            name="--format",
            usual="raw",
            sets=("format",),
        ),
    ]
    transfers: Annotated[
        list[str],
        Field(min_length=1),
        Names(sorted_=False),
        Option(
            "Transfer the particles in these ways: independent, collective.",
            name="--access",
            usual="independent,collective",
            sets=("transfers",),
        ),
    ]
    compute_s: Annotated[
        float,
        Field(ge=0, le=3600),
        Duration(may_be_none=True),
        Option(
            "Sleep for this long after each step but the last, in place of a computation.",
            name="--compute",
            usual="100ms",
            quick="10ms",
        ),
    ]
    cache: Annotated[
        Literal["none", "drop"],
        Option("Before reading, drop the file from the page cache (drop), or do nothing (none)."),
    ] = "none"
    metrics: list[str] = list(METRICS)

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in what follows from the machine and from ``--quick``."""
        usual: dict[str, object] = {"ranks": [cores_of_nodes(said)]}
        if said.get("quick"):
            usual.update(particles=1 << 16, steps=3)
        return super().settle({**usual, **said})

    @model_validator(mode="after")
    def _known_words(self) -> Self:
        check_words("layouts", self.layouts, LAYOUTS)
        check_words("formats", self.formats, FORMATS)
        check_words("transfers", self.transfers, ACCESSES)
        return self


def check_words(field: str, words: Iterable[str], known: Iterable[str]) -> None:
    """Raise ``OptionError`` for a word that is not ``known``."""
    for word in words:
        if word not in known:
            raise OptionError(field, f"there is no '{word}'", f"one of {', '.join(known)}", word)
