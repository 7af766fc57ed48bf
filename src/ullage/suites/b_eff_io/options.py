# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``b_eff_io`` in their own types, as they stand in request.json."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict
from ullage.model.machine import MachineFile
from ullage.suites.b_eff_io.patterns import Access, PatternType

Positive: TypeAlias = Annotated[int, Field(ge=1)]
PositiveFloat: TypeAlias = Annotated[float, Field(gt=0)]
Rule: TypeAlias = Literal["2.1", "1.0"]
ALL: Final = "all"
ON_OPEN: Final = "on_open"
LMAX: Final = "Lmax"
Chunk: TypeAlias = Literal["on_open", "all", "Lmax", "1024", "1032", "32768", "32776", "1048576", "1048584"]

# The name of the set without any hints.
DEFAULT_SET: Final = "default"
# What a partition needs for a result that counts.
VALID_S: Final = 1800.0
USUAL_TIME_S: Final = VALID_S
# How far patterns with fixed counts may go beyond their schedule where the time is short anyway; 0: no limit.
SHORT_OVERTIME: Final = 1.1
# A first look.
QUICK_TIME_S: Final = 20.0
QUICK_LMAX: Final = 2 << 20
# Below 2 MiB the definition does not go: for tests.
LEAST_LMAX: Final = 16 << 10
MOST_LMAX: Final = 1 << 30


class HintLine(Strict):
    """One line of a hint file. ``chunk``: ``on_open``, ``all``, ``Lmax`` or the bytes of l."""

    processes: Positive | Literal["all"] = "all"
    access: Access | Literal["all"] = "all"
    type: PatternType | Literal["all"] = "all"
    chunk: Chunk = "all"
    key: Annotated[str, Field(min_length=1)]
    value: str


class HintSet(Strict):
    """Hints that are measured together; later lines override the same key of earlier ones."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    lines: list[HintLine] = []


class BEffIoOptions(Strict):
    """Sizes in bytes, times in s.

    ``time_s``: T, scheduled for each hint set, target and repetition. ``memory``: of one process, of which ``lmax`` is
    1/128; null where ``lmax`` was given. ``memory_total``: of all processes, what the volume is held against.
    ``overtime``: patterns with a fixed count end at this many times their scheduled time; 0: never. ``room``: what all
    datasets of a round may take, by target, as far as it is settled.
    """

    ranks: Positive
    nodes: Positive | None = None
    ranks_per_node: Positive | None = None
    partitions: Annotated[list[Positive], Field(min_length=1, description="rising")]
    time_s: PositiveFloat = USUAL_TIME_S
    rewrite: bool = False
    lmax: Annotated[
        int | None, Field(ge=LEAST_LMAX, le=MOST_LMAX, multiple_of=8, description="null: by the memory, not yet found")
    ] = None
    memory: Positive | None = None
    memory_total: Annotated[int | None, Field(ge=1, description="null: not known")] = None
    rule: Rule = "2.1"
    overtime: Annotated[float, Field(ge=0)] = 0.0
    shared_pointer: bool = True
    unique_open: bool = True
    cache: Literal["none", "advise"] = "none"
    verify: Literal["full", "none"] = "full"
    hint_sets: Annotated[list[HintSet], Field(min_length=1)] = [HintSet(name=DEFAULT_SET)]
    repetitions: Positive = 1
    space: Annotated[int, Field(ge=0)] | None = None
    room: dict[str, Annotated[int, Field(ge=0)]] = {}
    watchdog_s: PositiveFloat | None = None
    keep: bool = False
    resumable: bool = False
    quick: bool = False
    machine: Annotated[MachineFile | None, Field(description="datasheet values, as ceilings")] = None

    @property
    def partition_s(self) -> float:
        """T_part: whole seconds where there are as many; the original divides integers."""
        whole = self.time_s // len(self.partitions)
        return whole if whole >= 1 else self.time_s / len(self.partitions)

    @property
    def is_lmax_given(self) -> bool:
        """Whether the largest chunk follows from something else than the memory."""
        return self.lmax is not None and self.memory is None
