# SPDX-License-Identifier: Apache-2.0
"""Options that suites share, each declared once. A suite takes a group by inheriting from it.

A suite may say something else of a shared option in its ``changes``: another default, a further sentence of help.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self, TypeAlias, cast

from pydantic import Field, model_validator

from ullage.model.acceptance import Floor
from ullage.model.machine import MachineFile
from ullage.model.plan import Layout, Target
from ullage.runs.options.declared import (
    AFTERWARDS,
    BESIDE,
    CEILINGS,
    PLACES,
    QUICK,
    RANKS,
    REPETITIONS,
    ROOM,
    SEED,
    TIME,
    Change,
    Option,
    declared,
)
from ullage.runs.options.kinds import ConvertedList, CountAxis, Duration, FilePath, Share, Size, SizeAxis, TargetPlaces
from ullage.runs.options.model import COMMAND_LINE_ONLY, OptionError, SuiteOptions

Positive: TypeAlias = Annotated[int, Field(ge=1)]
Seconds: TypeAlias = Annotated[float, Field(gt=0)]
Counts: TypeAlias = Annotated[list[Positive], CountAxis()]
Blocks: TypeAlias = Annotated[list[Annotated[int, Field(ge=8)]], SizeAxis(8)]
Volume: TypeAlias = Annotated[int, Field(ge=8), Size()]
MaybeVolume: TypeAlias = Annotated[int | None, Field(ge=8), Size()]
# With more ranks on a core, starting them alone takes memory and processes that a node may not have.
MOST_RANKS_ON_A_CORE: Final = 128
_MOST_DEFAULT_RANKS: Final = 6
# Suites that may take as long as it takes, and those that share a time out, have ``--time`` with different types.
_TIME: Final = Option("Limit the time of all measurements.", name="--time", order=TIME)


def is_empty(value: object) -> bool:
    """Tell whether a request may leave a field out."""
    return not value


class TargetsOptions(SuiteOptions):
    """Options of suites that measure places named by the user."""

    targets: Annotated[
        list[Target],
        TargetPlaces(),
        Option(
            "Measure this place. Repeat the option to measure several places.",
            name="--target",
            required=True,
            order=PLACES,
        ),
        COMMAND_LINE_ONLY,
    ] = []

    @property
    def measured(self) -> list[Target]:
        return self.targets


class NodesOptions(SuiteOptions):
    """The option for the number of nodes. ``hosts``: how many the verb's ``--hosts`` names."""

    uses_hosts: ClassVar[bool] = True
    hosts: Annotated[int, Field(ge=0)] = 0
    nodes: Annotated[int | None, Field(ge=1), Option("Use this many nodes.", order=RANKS)] = None
    oversubscribe: Annotated[
        bool,
        Option(f"Allow more than {MOST_RANKS_ON_A_CORE} ranks per core on a node.", order=RANKS + 1),
        COMMAND_LINE_ONLY,
    ] = False

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """See ``SuiteOptions``; far more ranks than cores are asked for twice, since they may stop the node."""
        values = super().settle(said)
        if not values.get("oversubscribe"):
            _check_crowd(values)
        return values


def _check_crowd(values: Mapping[str, object]) -> None:
    from ullage.system.hardware import ranks_by_default

    asked = values.get("ranks")
    ranks = max(cast("list[int]", asked), default=0) if isinstance(asked, list) else asked
    nodes, at_most = values.get("nodes") or values.get("hosts"), values.get("ranks_per_node")
    if not isinstance(ranks, int):
        return
    on_a_node = -(-ranks // nodes) if isinstance(nodes, int) and nodes > 0 else ranks
    on_a_node = min(on_a_node, at_most) if isinstance(at_most, int) else on_a_node
    cores = ranks_by_default()
    if on_a_node > MOST_RANKS_ON_A_CORE * cores:
        what = f"{on_a_node} ranks on a node, where this one has {cores} usable core{'s' if cores > 1 else ''}"
        raise OptionError("ranks", what, "give fewer ranks, more --nodes, or --oversubscribe")


class LayoutOptions(NodesOptions):
    """Options for the placement of ranks."""

    ranks_per_node: Annotated[
        int | None, Field(ge=1), Option("Place at most this many ranks on a node.", order=RANKS)
    ] = None


class BindOptions(LayoutOptions):
    """The option for the binding of ranks. Requests without it look as they did before there was one."""

    bind: Annotated[
        Literal["core", "none"] | None,
        Field(exclude_if=is_empty),
        Option(
            "Bind each rank to a core of its own, or bind none.",
            unsaid="core where each rank has a core, otherwise none.",
            order=RANKS + 1,
        ),
    ] = None

    def place(self, ranks: int, cores: int | None) -> Layout:
        """Place ``ranks`` on nodes of ``cores`` usable ones (None: not known); see ``place_ranks``."""
        from ullage.launch.base import place_ranks

        return place_ranks(ranks, self.nodes, self.ranks_per_node, cores, self.hosts, self.bind)


class RanksOptions(LayoutOptions):
    """The option for a single number of ranks."""

    ranks: Annotated[
        int,
        Field(ge=1),
        Option("Start this many ranks (MPI processes).", unsaid="the number of usable cores", order=RANKS - 1),
    ]

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Settle ranks where none are said: one for each usable core of all nodes, or more where they are needed."""
        return super().settle({"ranks": max(int(declared(cls)["ranks"].low or 1), cores_of_nodes(said)), **said})


def cores_of_nodes(said: Mapping[str, object]) -> int:
    """Return the usable cores of all nodes that options ask for, as far as ranks may have them.

    Nodes are taken to be alike.
    """
    from ullage.system.hardware import ranks_by_default

    cores, most = ranks_by_default(), said.get("ranks_per_node")
    nodes = said.get("nodes") or said.get("hosts") or 1
    return int(cast("int", nodes)) * (min(cores, most) if isinstance(most, int) and most > 0 else cores)


class RankAxisOptions(LayoutOptions):
    """The option for several numbers of ranks, in rising order."""

    ranks: Annotated[
        Counts, Option("Measure with these numbers of ranks, for example 1,2,4 or 1:64:x2.", order=RANKS - 1)
    ]


def default_ranks(cores: int) -> list[int]:
    """Return the powers of 2 up to ``cores``, at least 1, 2, 4.

    Of more than 6 it has 6: the first, the last and some between.
    """
    values = [1, 2, 4]
    while values[-1] * 2 <= cores:
        values.append(values[-1] * 2)
    if len(values) <= _MOST_DEFAULT_RANKS:
        return values
    last = len(values) - 1
    return [values[round(i * last / (_MOST_DEFAULT_RANKS - 1))] for i in range(_MOST_DEFAULT_RANKS)]


class TimeOptions(SuiteOptions):
    """The option for a time limit. Null means no limit."""

    time_s: Annotated[Seconds | None, Duration(), replace(_TIME, unsaid="no limit")] = None


class TimeBudgetOptions(SuiteOptions):
    """The option for a time that the measurements share."""

    time_s: Annotated[Seconds, Duration(), _TIME] = 120.0


class SeedOptions(SuiteOptions):
    """The option for the seed of random orders."""

    seed: Annotated[
        int,
        Field(ge=0, lt=2**53),
        Option("Choose the random order of the cases. The same seed gives the same order.", order=SEED),
    ] = 1


class QuickOptions(SuiteOptions):
    """The option for a first look."""

    quick: Annotated[bool, Option("Measure less, as a first look.", order=QUICK)] = False


class QuickOnCommandLine(SuiteOptions):
    """The option for a first look. The request keeps only what follows from it."""

    quick: Annotated[bool, Option("Measure less, as a first look.", order=QUICK), COMMAND_LINE_ONLY] = False


class PeerOptions(SuiteOptions):
    """The option that leaves other tools out."""

    peer: Annotated[
        bool, Option("Do not run other tools for comparison, even if they are installed.", order=BESIDE)
    ] = True


def _read_machine(path: Path) -> MachineFile:
    from ullage.analysis.ceilings.machine_file import read_machine

    return read_machine(path)


class MachineOptions(SuiteOptions):
    """The option for the values of the machine's datasheets."""

    machine: Annotated[
        MachineFile | None,
        Field(description="datasheet values, as ceilings"),
        FilePath(_read_machine),
        Option(
            "Use the datasheet values in this machine.toml as ceilings. `ullage machine --declare "
            "FILE` writes a draft.",
            order=CEILINGS,
        ),
    ] = None


def _read_floors(path: Path) -> list[Floor]:
    from ullage.runs.options.floors import read_checked_floors

    return read_checked_floors(path)


class RequireOptions(SuiteOptions):
    """The option for what the rows have to reach. Requests without it look as they did before there was one."""

    require: Annotated[
        list[Floor],
        Field(description="floors for the rows", exclude_if=is_empty),
        FilePath(_read_floors),
        Option(
            "Judge the rows by the floors in this TOML file. The exit code is 4 where one fails, 6 where one cannot be "
            "told.",
            order=CEILINGS,
        ),
    ] = []


class SpaceOptions(SuiteOptions):
    """Options for the space that a run takes of a target, and for what it leaves there."""

    space: Annotated[
        int | None,
        Field(ge=0),
        Size(),
        Option("Use at most this much space of a target.", unsaid="half of the free space", order=ROOM),
    ] = None
    keep: Annotated[bool, Option("Do not remove the datasets of the last launch.", order=AFTERWARDS)] = False


class WatchdogOptions(RequireOptions):
    """Options of every suite that starts ranks itself: the time after which one counts as hanging, and floors."""

    watchdog_s: Annotated[
        float | None,
        Field(gt=0, description="null: 120 s, or longer for large cases"),
        Duration(),
        Option("Treat a rank as hanging after this long without progress.", name="--watchdog", order=ROOM + 1),
    ] = None


class ResumableOptions(SuiteOptions):
    """The option that keeps what a later run needs to continue an interrupted one."""

    resumable: Annotated[
        bool,
        Option(
            "Keep the datasets when the run is interrupted, so that `ullage resume` can continue it.",
            order=AFTERWARDS + 1,
        ),
    ] = False


def _read_ceilings(texts: Sequence[str]) -> dict[str, float]:
    from ullage.analysis.ceilings.declared import read_ceiling

    return dict(map(read_ceiling, texts))


class CeilingOptions(TargetsOptions):
    """The option for declared ceilings of targets."""

    ceilings: Annotated[
        dict[str, float],
        ConvertedList(_read_ceilings, metavar="NAME[:ACCESS]=RATE"),
        Option(
            "Declare the highest possible rate of a target, for example nvme:read=3.2GB/s.",
            name="--ceiling",
            order=CEILINGS,
        ),
    ] = {}

    @model_validator(mode="after")
    def _of_targets(self) -> Self:
        from ullage.analysis.ceilings.declared import CEILING_FORMS, unknown_ceiling

        unknown = unknown_ceiling(self.ceilings, self.targets) if self.targets else None
        if unknown is not None:
            raise OptionError("ceilings", "not a ceiling of one of the targets", CEILING_FORMS, f"'{unknown}'")
        return self


class IntervalOptions(TimeBudgetOptions, SeedOptions):
    """Options that decide when a cell has been repeated often enough."""

    interval: Annotated[
        float,
        Field(gt=0, lt=10, description="half the width of the median's interval over it"),
        Share("not a relative width"),
        Option("Stop repeating a cell when the interval of its median is within +- this share.", order=REPETITIONS),
    ] = 0.05
    min_repetitions: Annotated[
        int,
        Field(ge=1),
        Option(
            "Repeat every cell at least this often. Fewer than 6 repetitions give no 95 % interval.",
            unsaid="6, or --max-repetitions if that is less",
            order=REPETITIONS,
        ),
    ] = 6
    max_repetitions: Annotated[int, Field(ge=1), Option("Repeat a cell at most this often.", order=REPETITIONS)] = 15

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Settle the repetitions: whoever asks for few at most need not ask for fewer at least."""
        values = super().settle(said)
        most = values.get("max_repetitions")
        if "min_repetitions" not in values and isinstance(most, int):
            values["min_repetitions"] = min(most, int(cls.model_fields["min_repetitions"].default))
        return values

    @model_validator(mode="after")
    def _no_more_at_least_than_at_most(self) -> Self:
        if self.min_repetitions > self.max_repetitions:
            what = "the minimum is above the maximum"
            raise OptionError("min_repetitions", what, "raise --max-repetitions")
        return self


class RunOptions(MachineOptions, CeilingOptions, IntervalOptions, SpaceOptions, WatchdogOptions):
    """Options of suites that repeat cells on storage targets within a time.

    ``shrinks_blocks``: what makes cases smaller makes their blocks smaller, too.
    """

    shrinks_blocks: ClassVar[bool] = False

    @property
    def sized_by(self) -> str:
        """The parameter that makes the largest cases as large as they are."""
        return "volume"


class StorageOptions(QuickOnCommandLine, BindOptions, RankAxisOptions, RunOptions):
    """Options of suites whose cells have several ranks, by default one for each usable core."""

    changes = {"ranks": Change(unsaid="the number of usable cores")}

    @staticmethod
    def usual_ranks(cores: int) -> list[int]:
        """Return the numbers of ranks where none are said, with so many usable cores."""
        return [cores]

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Settle the numbers of ranks by the cores of this machine."""
        return super().settle({"ranks": cls.usual_ranks(cores_of_nodes(said)), **said})
