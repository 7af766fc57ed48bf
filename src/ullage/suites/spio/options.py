# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``spio``, as they stand in request.json."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import MachineOptions, StorageOptions, default_ranks
from ullage.runs.options.kinds import Size
from ullage.runs.options.model import OptionError
from ullage.runs.options.settings import VERIFY, Backend

Operation: TypeAlias = Literal["write", "read", "neighbour", "reread"]

OPERATIONS: Final[tuple[Operation, ...]] = ("write", "read", "neighbour", "reread")


class SpioOptions(MachineOptions, StorageOptions):
    """The options of suite ``spio``. ``volume``: bytes of all files of a case; null: by the rule of ``cells``."""

    metrics = "bandwidth fastest_rank_time slowest_rank_time open_time sync_time"
    usual_ranks = staticmethod(default_ranks)
    changes: ClassVar[Mapping[str, Change]] = {
        "targets": Change("Keep the files at this place. Repeat the option to compare several places."),
        "ranks": Change(unsaid="powers of 2 up to the number of cores, at least 1,2,4"),
        "time_s": Change(usual="4h", quick="30s"),
        "quick": Change("Take a first look in 30 s: a volume of 128M."),
    }

    operations: Annotated[
        list[Operation],
        Option(
            "Measure any of write, read (own files), neighbour (files of ranks on the next node) and reread.",
            name="--operation",
            usual="write,read,neighbour,reread",
        ),
    ]
    volume: Annotated[
        int | None,
        Field(ge=8),
        Size(),
        Option(
            "Give all files of a case together this size.",
            unsaid="the larger of 128GB and 3 times all memory, as far as there is room, or 4G with --cache direct",
            quick="128M",
            sets=("volume", "volume_bytes"),
        ),
    ] = None
    block: Annotated[
        int, Field(ge=8, multiple_of=8), Size(8), Option("Transfer blocks of this size.", sets=("block_bytes",))
    ] = 1 << 20
    cache: Annotated[
        Literal["none", "advise", "drop", "direct"],
        Option(
            "Treat the page cache before reads: none, advise (fsync, then drop the data), drop "
            "(all caches, root only), or direct (O_DIRECT). Nothing is done before rereads."
        ),
    ] = "advise"
    verify: Annotated[Literal["none", "kept", "full"] | None, VERIFY] = None
    backend: Backend = "posix"

    @model_validator(mode="after")
    def _has_neighbours(self) -> Self:
        if self.operations == ["neighbour"] and self.ranks == [1]:
            raise OptionError("ranks", "a single rank has no neighbour", "write --ranks 2, or another --operation")
        return self
