# SPDX-License-Identifier: Apache-2.0
"""The options of both suites of particle files, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.groups import StorageOptions

LAYOUTS: Final[Mapping[str, tuple[str, str]]] = {
    "CC": ("contiguous", "contiguous"),
    "CI": ("contiguous", "interleaved"),
    "IC": ("interleaved", "contiguous"),
    "II": ("interleaved", "interleaved"),
}
"""Order in memory and in the file, by the names of h5bench."""
PARTICLE_BYTES: Final = 32


class ParticleOptions(StorageOptions):
    """``particles``: of a rank."""

    workload = "vpic"
    metrics = (
        "observed_bandwidth raw_bandwidth phase_time raw_time open_time sync_time close_time latency_p50 latency_max"
    )
    changes = {
        "targets": Change("Keep the file at this place. Repeat the option to compare several places."),
        "time_s": Change(usual="10m", quick="30s"),
        "quick": Change("Take a first look in 30 s: 65,536 particles of each rank, 3 steps."),
    }

    particles: Annotated[int, OfEngine(quick="65536", sets=("volume",))] = 8 << 20
    steps: Annotated[int, OfEngine(quick="3")] = 5
    layouts: Annotated[
        list[Literal["CC", "CI", "IC", "II"]],
        Option(
            "Use these layouts: CC, CI, IC, II. The first letter is the order in memory, the second that in the file. "
            "C keeps each variable contiguous, I interleaves the variables of a particle.",
            name="--layout",
            usual="CC,CI,IC,II",
        ),
    ]
    formats: Annotated[
        list[Literal["raw", "hdf5"]],
        Option(
            "Use these formats: raw (values behind a header of Ullage, by MPI-IO), hdf5.", name="--format", usual="raw"
        ),
    ]
    transfers: Annotated[
        list[Literal["independent", "collective"]],
        Option(
            "Transfer the particles in these ways.",
            name="--access",
            usual="independent,collective",
            sets=("transfers",),
        ),
    ]
    compute_s: Annotated[float, OfEngine(name="--compute", usual="100ms", quick="10ms")]
    cache: Annotated[str, OfEngine()] = "none"
