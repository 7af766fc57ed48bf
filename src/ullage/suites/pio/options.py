# SPDX-License-Identifier: Apache-2.0
"""The options of suite ``pio``, as they stand in request.json."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from ullage.errors import UserError
from ullage.runs.options.declared import Change, OfEngine, Option
from ullage.runs.options.groups import StorageOptions
from ullage.runs.options.kinds import ConvertedList, FilePath, Names, Size, SizeAxis
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import BackendParameterOptions
from ullage.suites.pio.spatial import (
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


class PioOptions(BackendParameterOptions, StorageOptions):
    """``volume``: what all ranks together move in an operation. ``directives``: in place of ``patterns``, if any."""

    workload = "pio"
    metrics = "bandwidth operation_rate fastest_rank_time mean_rank_time slowest_rank_time latency_p50 latency_p99"
    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Measure this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="the number of usable cores, at least 2"),
        "time_s": Change(usual="15m", quick="40s"),
        "quick": Change("Take a first look in 40 s: 4 patterns, writes and reads of 64K, 16M a case."),
    }

    patterns: Annotated[
        list[PatternName],
        OfEngine("pattern", usual=",".join(PATTERNS), quick="simple-strided,sequential-own,segmented,mesh"),
    ]
    operations: Annotated[
        list[Operation],
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
        SizeAxis(8),
        OfEngine("request_bytes", name="--request", usual="4K,64K,1M", quick="64K", sets=("block_bytes",)),
    ]
    calls: Annotated[
        list[Calls], Option("Make independent calls, collective calls, or both.", usual="independent,collective")
    ]
    bases: Annotated[
        list[Base],
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
    requests_a_call: Annotated[int, OfEngine()] = 1
    levels: Annotated[int, OfEngine()] = 2
    inner: Annotated[int, OfEngine("inner_requests", name="--inner")] = 4
    gap: Annotated[int, OfEngine("gap_requests", name="--gap")] = 1
    tiles_x: Annotated[int | None, OfEngine()] = None
    variables: Annotated[int, OfEngine()] = 24
    record: Annotated[int, Field(multiple_of=8), Size(8), OfEngine("record_bytes", name="--record", usual="512")]
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
        ),
    ] = []
    hints: Annotated[
        dict[str, str],
        ConvertedList(read_hints, metavar="KEY=VALUE"),
        Option("Give this MPI-IO hint when a file is opened. Repeat the option for more hints.", name="--hint"),
    ] = {}
    cache: Annotated[str, OfEngine()] = "advise"
    verify: Annotated[str, OfEngine()] = "kept"

    @staticmethod
    def usual_ranks(cores: int) -> list[int]:
        """Return two ranks at least: a single one has no pattern."""
        return [max(2, cores)]

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
        usual |= {"request": self.requests, "operation": self.operations, "calls": self.calls, "base": self.bases}
        given = {name for name in usual if getattr(one, name) is not None}
        return one.model_copy(update={name: value for name, value in usual.items() if name not in given})
