# SPDX-License-Identifier: Apache-2.0
"""The options of a sweep in their own types, as they stand in request.json."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict
from ullage.runs.cells.options import RunOptions

Access: TypeAlias = Literal["write", "rewrite", "read", "reread"]
Axis: TypeAlias = Literal["ranks", "block"]
CacheControl: TypeAlias = Literal["none", "advise", "drop", "direct"]

ACCESS_ORDER: Final[tuple[Access, ...]] = ("write", "rewrite", "read", "reread")


class Setting(Strict):
    """``THING.KEY=VALUE`` as written; several values make it an axis. ``describe`` says of which type they are."""

    thing: str
    key: str
    values: Annotated[list[str], Field(min_length=1)]

    @property
    def place(self) -> str:
        """What it sets."""
        return f"{self.thing}.{self.key}"


class SweepOptions(RunOptions):
    """``volume`` is of a case, of each rank when ``weak``; null: chosen by a probe."""

    backends: Annotated[list[str], Field(description="empty: that of each target's scheme")] = []
    ranks: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)]
    nodes: Annotated[int, Field(ge=1)] | None = None
    ranks_per_node: Annotated[int, Field(ge=1)] | None = None
    blocks: Annotated[list[Annotated[int, Field(ge=8)]], Field(min_length=1)]
    access: Annotated[list[Access], Field(min_length=1)]
    volume: Annotated[int, Field(ge=8)] | None = None
    weak: bool = False
    file_mode: Literal["shared", "per-process"] = "per-process"
    order: str = "sequential"
    cache: CacheControl = "advise"
    verify: Annotated[str | None, Field(description="null: kept where the backend holds data")] = None
    parameters: list[Setting] = []
    vary: list[Setting] = []
    extend: list[Axis] = []
    recheck: bool = False

    @property
    def phases(self) -> tuple[Access, ...]:
        """What a case does, in this order: one that reads has to write first, its data lives no longer than it."""
        return tuple(word for word in ACCESS_ORDER if word == "write" or word in self.access)

    @property
    def reserved_share(self) -> float:
        """Of the time, kept back from narrowing intervals for what only the first results can ask for."""
        return (0.25 if self.extend else 0.0) + (0.1 if self.recheck else 0.0)
