# SPDX-License-Identifier: Apache-2.0
"""The options of a sweep, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from ullage.runs.options.declared import CEILINGS, REPETITIONS, Change, OfEngine, Option
from ullage.runs.options.groups import BindOptions, RankAxisOptions, RunOptions, cores_of_nodes, default_ranks
from ullage.runs.options.kinds import ConvertedList, Names, Size, SizeAxis
from ullage.runs.options.settings import VERIFY, BackendParameterOptions, Setting, read_axes

Access: TypeAlias = Literal["write", "rewrite", "read", "reread"]
Axis: TypeAlias = Literal["ranks", "block"]
CacheControl: TypeAlias = Literal["none", "advise", "drop", "direct"]

ACCESS_ORDER: Final[tuple[Access, ...]] = ("write", "rewrite", "read", "reread")
COLD_BUFFERS: Final = 16 << 20


class SweepOptions(BackendParameterOptions, BindOptions, RankAxisOptions, RunOptions):
    """The options of suite ``sweep``.

    ``volume`` is of a case, of each rank when ``weak``; null: chosen by a probe.
    """

    workload = "transfer"
    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change(
            "Measure this place, also NAME=model: or NAME=null:. Repeat the option to measure several places."
        ),
        "ranks": Change(unsaid="powers of 2 up to the number of cores, at least 1,2,4"),
        "time_s": Change(help="Limit the time of all measurements. The limit is kept within 10 %."),
        "parameters": Change(
            "Set a parameter of a backend or of workload transfer. `ullage describe NAME` lists them."
        ),
    }

    blocks: Annotated[
        list[Annotated[int, Field(ge=8)]],
        SizeAxis(),
        Option(
            "Transfer blocks of these sizes, for example 128K,1M or 128K:16M:x2.",
            name="--block",
            usual="128K:8M:x4",
            sets=("block_bytes",),
        ),
    ]
    access: Annotated[list[Access], Option("Measure any of write,rewrite,read,reread.", usual="write,read")]
    backends: Annotated[
        list[str],
        Field(description="empty: that of each target's scheme"),
        Names(),
        Option("Use these backends, for example posix,mpiio.", name="--backend", unsaid="the target's own backend"),
    ] = []
    volume: Annotated[
        int | None, Field(ge=8), Size(), Option("Transfer this many bytes in every case.", unsaid="a probe chooses")
    ] = None
    weak: Annotated[bool, Option("Take the volume as that of each rank, not of the case.")] = False
    file_mode: Annotated[str, OfEngine(name="--file")] = "per-process"
    order: Annotated[str, OfEngine()] = "sequential"
    cache: Annotated[
        CacheControl,
        Option(
            "Treat the page cache before reads: none, advise (fsync, then drop the data), drop "
            "(all caches, root only), or direct (O_DIRECT)."
        ),
    ] = "advise"
    verify: Annotated[str | None, Field(description="null: kept where the backend holds data"), VERIFY] = None
    buffers: Annotated[
        int | None,
        Field(ge=1, description="bytes; null: a buffer for each operation in flight"),
        Size(names=(("cold", COLD_BUFFERS),), metavar="cold|SIZE"),
        Option(
            "Use this much buffer memory for the transfers of a rank. cold means 16M, more than "
            "the caches of a core hold.",
            unsaid="one buffer for each operation in flight",
        ),
    ] = None
    vary: Annotated[
        list[Setting],
        ConvertedList(read_axes, metavar="THING.KEY=A,B"),
        Option("Vary a parameter as a further axis. Separate values that contain commas by a semicolon."),
    ] = []
    extend: Annotated[
        list[Axis],
        Names(("ranks", "block"), sorted_=False, metavar="AXES"),
        Option("Extend the axis ranks, block or both while the best value lies at its end.", order=REPETITIONS),
    ] = []
    recheck: Annotated[bool, Option("Repeat cells that look like outliers.", order=CEILINGS - 1)] = False

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the ranks by the cores of this machine."""
        return super().settle({"ranks": default_ranks(cores_of_nodes(said)), **said})

    @property
    def phases(self) -> tuple[Access, ...]:
        """What a case does, in this order: one that reads has to write first, its data lives no longer than it."""
        return tuple(word for word in ACCESS_ORDER if word == "write" or word in self.access)

    @property
    def reserved_share(self) -> float:
        """The share of the time kept back from narrowing intervals for what only the first results can ask for."""
        return (0.25 if self.extend else 0.0) + (0.1 if self.recheck else 0.0)
