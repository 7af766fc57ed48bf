# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``b_eff_io``, as they stand in request.json."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias, cast

from pydantic import Field

from ullage.runs.options import groups
from ullage.runs.options.declared import QUICK, RANKS, Change, OfEngine, Option
from ullage.runs.options.kinds import CountAxis, Repeated, Size
from ullage.runs.options.model import OptionError
from ullage.suites.b_eff_io.hints import DEFAULT_SET, HintSet, read_hint_sets
from ullage.suites.b_eff_io.patterns import default_partitions
from ullage.units import format_bytes, format_duration

Rule: TypeAlias = Literal["2.1", "1.0"]

# A result that counts needs these seconds for each partition.
VALID_S: Final = 1800.0
# Where the time is short anyway, patterns with fixed counts may take this multiple of their schedule; 0: no limit.
SHORT_OVERTIME: Final = 1.1
# The largest chunk of a first look.
_QUICK_LMAX: Final = 2 << 20
# The definition does not go below 2 MiB; tests do.
_LEAST_LMAX: Final = 16 << 10
_MOST_LMAX: Final = 1 << 30
# A short run has one part in so many of the time, and no less than that of a quick look.
_SHORTER: Final = 5
_LEAST_SCHEDULED_S: Final = 20.0


class BEffIoOptions(
    groups.TargetsOptions,
    groups.BindOptions,
    groups.RanksOptions,
    groups.TimeBudgetOptions,
    groups.SpaceOptions,
    groups.WatchdogOptions,
    groups.ResumableOptions,
    groups.QuickOptions,
    groups.MachineOptions,
):
    """The options of suite ``b_eff_io``.

    Sizes in bytes, times in s.

    ``time_s``: T, scheduled for each hint set, target and repetition. ``memory``: of one process, of which ``lmax`` is
    1/128; null where ``lmax`` was given. ``memory_total``: of all processes, what the volume is held against.
    ``overtime``: patterns with a fixed count end at this many times their scheduled time; 0: never. ``room``: what all
    datasets of a round may take, by target, as far as it is settled.
    """

    workload = "b-eff-io"
    changes = {
        "targets": Change(
            "Measure this place, also NAME=null: or NAME=model:. Repeat the option to measure several places."
        ),
        "ranks": Change("Start this many ranks in the largest partition."),
        "time_s": Change(
            "Schedule this time for all partitions together, for each target, set of hints and "
            "repetition. A valid result needs 30m for each partition.",
            usual="30m",
            quick="20s",
        ),
        "watchdog_s": Change("Treat a pattern as hanging after this long without progress."),
        "keep": Change("Do not remove the datasets of the last round."),
        "quick": Change("Take a first look in 20 s: one partition, chunks of up to 2 MiB."),
    }

    partitions: Annotated[
        list[groups.Positive],
        Field(min_length=1, description="rising"),
        CountAxis(),
        Option(
            "Measure with these numbers of processes, for example 4,16,64.",
            unsaid="a small, a medium and the full number",
            order=RANKS,
        ),
    ]
    hint_sets: Annotated[
        list[HintSet],
        Repeated(metavar="FILE"),
        Option(
            "Read MPI-IO hints in b_eff_io's grammar or from *.toml; 'default' means none. Repeat "
            "the option to compare sets.",
            name="--hints",
        ),
    ] = [HintSet(name=DEFAULT_SET)]
    rewrite: Annotated[bool, Option("Rewrite with all pattern types, not only type scatter.")] = False
    lmax: Annotated[
        int | None,
        Field(ge=_LEAST_LMAX, le=_MOST_LMAX, multiple_of=8, description="null: by the memory, not yet found"),
        Size(),
        Option("Write and read chunks of up to this size.", unsaid="1/128 of the memory of a process"),
    ] = None
    memory: Annotated[
        int | None,
        Field(ge=1),
        Size(),
        Option("Take this as the memory of each process.", unsaid="the memory of the node, divided by its processes"),
    ] = None
    memory_total: Annotated[
        int | None,
        Field(ge=1, description="null: not known"),
        Size(),
        Option("Compare volumes with this total memory.", unsaid="the memory of all nodes"),
    ] = None
    rule: Annotated[Rule, Option("End a loop by rule 2.1 (the next call would not fit) or 1.0 (the time is over).")] = (
        "2.1"
    )
    overtime: Annotated[float, OfEngine(unsaid="1.1 below 30m a partition, else 0")] = 0.0
    shared_pointer: Annotated[
        bool,
        Option(
            "Run pattern type shared without shared file pointers. The result is then not valid.", name="--no-shared"
        ),
    ] = True
    unique_open: Annotated[bool, Option("Open files without MPI_MODE_UNIQUE_OPEN.", name="--no-unique")] = True
    cache: Annotated[str, OfEngine()] = "none"
    verify: Annotated[str, OfEngine()] = "full"
    repetitions: Annotated[
        groups.Positive,
        Option("Repeat everything this often. Values have an interval from 6 repetitions on.", order=QUICK - 1),
    ] = 1
    room: dict[str, Annotated[int, Field(ge=0)]] = {}

    @classmethod
    def shorter(cls, options: Mapping[str, object]) -> dict[str, str]:
        """See ``SuiteOptions``: a fifth of the scheduled time, but no less than the quick look takes."""
        scheduled = options.get("time_s")
        if not isinstance(scheduled, (int, float)) or scheduled < _SHORTER * _LEAST_SCHEDULED_S:
            return {}
        return {"time": format_duration(scheduled / _SHORTER)}

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Settle the partitions by the number of ranks, the hints for these, and the limit of overtime."""
        quick = bool(said.get("quick"))
        if "lmax" in said and "memory" in said:
            what = "both options set the largest chunk"
            raise OptionError("lmax", what, "give only one of them", part="and --memory")
        lmax = cast("int", said.get("lmax", _MOST_LMAX))
        if not (_LEAST_LMAX <= lmax <= _MOST_LMAX and lmax % 8 == 0):
            sizes = f"from {format_bytes(_LEAST_LMAX)} to {format_bytes(_MOST_LMAX)}; 2M at least to be valid"
            raise OptionError("lmax", "no size that the largest chunk can have", f"a multiple of 8 {sizes}")
        values = super().settle(said)
        ranks, time_s = cast("int", values["ranks"]), cast("float", values["time_s"])
        usual = [ranks] if quick else default_partitions(ranks)
        partitions = cast("list[int]", said.get("partitions", usual))
        if partitions[-1] > ranks:
            what = f"a partition of {partitions[-1]} processes, and --ranks {ranks}"
            raise OptionError("partitions", what, f"at most {ranks}, or more --ranks")
        return {
            "lmax": _QUICK_LMAX if quick and "memory" not in said else None,
            "overtime": default_overtime(partition_seconds(time_s, len(partitions))),
            **values,
            "partitions": partitions,
            "hint_sets": read_hint_sets(cast("Sequence[str]", said.get("hint_sets", [])), partitions),
        }

    @property
    def partition_s(self) -> float:
        """T_part."""
        return partition_seconds(self.time_s, len(self.partitions))

    @property
    def is_lmax_given(self) -> bool:
        """Whether the largest chunk follows from something else than the memory."""
        return self.lmax is not None and self.memory is None


def partition_seconds(time_s: float, partitions: int) -> float:
    """Return T_part, in whole seconds from 1 s on: the original divides integers."""
    whole = time_s // partitions
    return whole if whole >= 1 else time_s / partitions


def default_overtime(partition_s: float) -> float:
    """Return the limit of overtime: a run that is too short to count keeps to its time.

    A run that counts does what the definition asks for: it has no limit (0).
    """
    return SHORT_OVERTIME if partition_s < VALID_S else 0.0
