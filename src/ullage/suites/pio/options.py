# SPDX-License-Identifier: Apache-2.0
"""The options of suite ``pio``, as they stand in request.json."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from ullage.errors import UserError
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import (
    BindOptions,
    QuickOnCommandLine,
    RankAxisOptions,
    RunOptions,
    cores_of_nodes,
)
from ullage.runs.options.kinds import ConvertedList, FilePath, Names, Size, SizeAxis
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import BackendParameterOptions
from ullage.suites.pio.spatial import (
    CALLS,
    OPERATIONS,
    OWNERS,
    PATTERNS,
    Base,
    Calls,
    Operation,
    PatternName,
    Request,
    Spatial,
    read_directives,
)
from ullage.units import parse_size

METRICS: Final = (
    "bandwidth",
    "operation_rate",
    "fastest_rank_time",
    "mean_rank_time",
    "slowest_rank_time",
    "latency_p50",
    "latency_p99",
)


def read_hints(texts: Sequence[str]) -> dict[str, str]:
    """Read hints written ``KEY=VALUE``."""
    hints: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value:
            raise UserError("not a hint", text, "write KEY=VALUE, for example cb_nodes=2")
        hints[key.strip()] = value
    return hints


def read_bases(texts: Sequence[str]) -> list[int]:
    """Read sizes of which 0 is one."""
    found: list[int] = []
    for text in ",".join(texts).split(","):
        size = parse_size(text)
        if size % 8:
            raise UserError(f"{size} bytes are not a multiple of 8", text, "write 0,8")
        if size not in found:
            found.append(size)
    return found


class PioOptions(BackendParameterOptions, QuickOnCommandLine, BindOptions, RankAxisOptions, RunOptions):
    """``volume``: what all ranks together move in an operation. ``directives``: in place of ``patterns``, if any."""

    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Measure this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="the number of usable cores, at least 2"),
        "time_s": Change(usual="15m", quick="40s"),
        "quick": Change("Take a first look in 40 s: 4 patterns, writes and reads of 64K, 16M a case."),
    }

    patterns: Annotated[
        list[PatternName],
        Field(min_length=1),
        Names(PATTERNS),
        Option(
            f"Measure these patterns: {', '.join(PATTERNS)}.",
            name="--pattern",
            usual=",".join(PATTERNS),
            quick="simple-strided,sequential-own,segmented,mesh",
        ),
    ]
    operations: Annotated[
        list[Operation],
        Field(min_length=1),
        Names(OPERATIONS),
        Option(
            f"Measure these operations: {', '.join(OPERATIONS)}.",
            name="--operation",
            usual=",".join(OPERATIONS),
            quick="write,read",
            sets=("access",),
        ),
    ]
    requests: Annotated[
        list[Request],
        Field(min_length=1),
        SizeAxis(8),
        Option(
            "Make requests of these sizes.", name="--request", usual="4K,64K,1M", quick="64K", sets=("block_bytes",)
        ),
    ]
    calls: Annotated[
        list[Calls],
        Field(min_length=1),
        Names(CALLS),
        Option("Make independent calls, collective calls, or both.", usual="independent,collective"),
    ]
    bases: Annotated[
        list[Base],
        Field(min_length=1),
        ConvertedList(read_bases, metavar="SIZES"),
        Option(
            "Begin the pattern so many bytes behind the beginning of the file: 0 is well-formed, 8 is 8 bytes off. "
            "The default is 0,8.",
            name="--base",
        ),
    ] = [0, 8]
    volume: Annotated[
        int,
        Field(ge=8),
        Size(),
        Option("Let all ranks together move about this much in an operation.", usual="64M", quick="16M"),
    ]
    requests_a_call: Annotated[
        int, Field(ge=1, le=10**6), Option("Move this many requests in one call of MPI-IO, through a view.")
    ] = 1
    levels: Annotated[int, Field(ge=1, le=8), Option("Nest this many levels of strides in pattern nested-strided.")] = 2
    inner: Annotated[
        int,
        Field(ge=1, le=10**6),
        Option("In pattern nested-strided, make this many requests before the next stride of the level around."),
    ] = 4
    gap: Annotated[
        int,
        Field(ge=0, le=10**6),
        Option("In pattern nested-strided, leave room for this many requests behind each inner level."),
    ] = 1
    tiles_x: Annotated[
        int | None,
        Field(ge=1, le=10**6),
        Option("Put this many tiles into a row of pattern tiled.", unsaid="as square as the ranks allow"),
    ] = None
    variables: Annotated[
        int, Field(ge=1, le=10**6), Option("Let pattern flash have this many arrays, one behind the other.")
    ] = 24
    record: Annotated[
        int,
        Field(ge=8, le=1 << 20, multiple_of=8),
        Size(8),
        Option("Let a vertex of pattern mesh have this size; requests are multiples of it.", usual="512"),
    ]
    unsorted: Annotated[bool, Option("Visit the vertices of pattern mesh at random. That needs independent calls.")] = (
        False
    )
    directives: Annotated[
        list[Spatial],
        FilePath(read_directives),
        Option("Take the patterns and their sizes from this file (TOML, see docs/suites/pio.md)."),
    ] = []
    backends: Annotated[
        list[str],
        Names(),
        Option(
            "Use these backends, for example posix,mpiio. Collective calls need mpiio or hdf5.",
            name="--backend",
            unsaid="mpiio, or the target's own backend where it has no path",
            sets=("backend",),
        ),
    ] = []
    hints: Annotated[
        dict[str, str],
        ConvertedList(read_hints, metavar="KEY=VALUE"),
        Option("Give this MPI-IO hint when a file is opened. Repeat the option for more hints.", name="--hint"),
    ] = {}
    cache: Annotated[
        Literal["none", "advise"],
        Option("Before read and read-modify-write, drop the files from the page cache (advise), or do nothing (none)."),
    ] = "advise"
    verify: Annotated[
        Literal["none", "kept", "full"],
        Option("Verify nothing, the last 16 MiB of each rank (kept), or all data (full), outside the timer."),
    ] = "kept"
    metrics: list[str] = list(METRICS)

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Fill in the ranks by the cores of this machine: a single rank has no pattern."""
        return super().settle({"ranks": [max(2, cores_of_nodes(said))], **said})

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        wrong = [size for size in self.requests if size % self.record]
        if wrong and not self.directives and "mesh" in self.patterns:
            right = "take a smaller --record, or leave mesh out of --pattern"
            raise OptionError("record", f"requests of {wrong[0]} bytes are no multiple of it", right)
        return self

    @property
    def spatials(self) -> list[Spatial]:
        """The patterns to measure, each with all that it needs."""
        given = self.directives or [Spatial(name=name) for name in self.patterns]
        return [self._completed(one) for one in given]

    def _completed(self, one: Spatial) -> Spatial:
        usual: dict[str, object] = {name: getattr(self, name) for name, owner in OWNERS.items() if owner == one.name}
        usual |= {
            "request": self.requests,
            "operation": self.operations,
            "calls": self.calls,
            "base": self.bases,
        }
        given = {name for name in usual if getattr(one, name) is not None}
        return one.model_copy(update={name: value for name, value in usual.items() if name not in given})
