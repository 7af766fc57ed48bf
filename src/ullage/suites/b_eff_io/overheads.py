# SPDX-License-Identifier: Apache-2.0
"""Where the time of a b_eff_io run went: what the schedule counts, and what is fixed beside it. Pure.

The schedule counts the loops alone. All else is listed by name, so that nobody wonders why a run of 60 s took 90.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

from ullage.analysis.metrics.arithmetic import NS_PER_S
from ullage.grouping import grouped
from ullage.model.record import PhaseRecord, RunRecord
from ullage.suites.b_eff_io.measured import BEffIoRun, Launch, facts_of, pattern_s, seconds_of
from ullage.suites.b_eff_io.patterns import Access

Part: TypeAlias = Literal["loops", "sync", "open", "view", "close", "payload", "between", "launch"]
PARTS: Final[tuple[Part, ...]] = ("loops", "sync", "open", "view", "close", "payload", "between", "launch")
SCHEDULED: Final = "scheduled"
TOTAL: Final = "total"
# Loops may take this multiple of their scheduled time before a finding warns of it.
MOST_OVER: Final = 1.1
_GAUGES: Final[dict[Part, str]] = {
    "sync": "sync_s",
    "open": "open_s",
    "view": "view_s",
    "close": "close_s",
    "payload": "payload_s",
}
# More than this between two launches is somebody's pause, not the start of a launch.
_LONGEST_START_S: Final = 300.0
# The wall clock of a record is as exact as this.
_WALL_S: Final = 2.0


@dataclass(frozen=True)
class TimeSpent:
    """The seconds that each part took, and those that were scheduled."""

    parts: Mapping[Part, float] = field(default_factory=dict[Part, float])
    scheduled: float = 0.0

    @property
    def loops(self) -> float:
        """What the schedule counts."""
        return self.parts.get("loops", 0.0)

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return sum(self.parts.values())

    @property
    def fixed(self) -> float:
        """What no schedule counts."""
        return self.total - self.loops


def add(spent: Iterable[TimeSpent]) -> TimeSpent:
    """Add up the seconds of each part, and what was scheduled."""
    parts: dict[Part, float] = {}
    scheduled = 0.0
    for one in spent:
        scheduled += one.scheduled
        for name, seconds in one.parts.items():
            parts[name] = parts.get(name, 0.0) + seconds
    return TimeSpent({name: parts[name] for name in PARTS if name in parts}, scheduled)


@dataclass(frozen=True, slots=True)
class Place:
    """Where time is told of in the report: the round, the target, the access and the partition."""

    round: int
    target: str
    access: Access
    ranks: int


def overheads(io_run: BEffIoRun) -> dict[Place, TimeSpent]:
    """Return by place the time of all its launches together, also of those that a hang ended."""
    found: dict[Place, list[TimeSpent]] = {}
    before: Launch | None = None
    for launch in io_run.launches:
        for access, spent in _of_launch(launch, before).items():
            found.setdefault(Place(launch.round, launch.target, access, launch.ranks), []).append(spent)
        before = launch
    return {place: add(spent) for place, spent in found.items()}


def by_round(io_run: BEffIoRun, target: str) -> dict[int, TimeSpent]:
    """Return by round the time that all launches with that target spent."""
    found = grouped((place.round, spent) for place, spent in overheads(io_run).items() if target == place.target)
    return {number: add(spent) for number, spent in sorted(found.items())}


def _of_launch(launch: Launch, before: Launch | None) -> dict[Access, TimeSpent]:
    """Split the time of a launch by access.

    Time between its cases, and before its start, belongs to its first access.
    """
    found: dict[Access, TimeSpent] = {}
    for access in launch.accesses:
        attempts = [attempt for attempt in launch.attempts if attempt.key.access == access]
        phases = [phase for attempt in attempts for phase in attempt.phases]
        parts: dict[Part, float] = {"loops": sum(loops_s(phase) for phase in phases)}
        for part, gauge in _GAUGES.items():
            parts[part] = sum(seconds_of(phase, gauge) for phase in phases)
        found[access] = TimeSpent(parts, sum(facts_of(phase).scheduled_s for phase in phases))
    first = launch.accesses[0]
    parts = dict(found[first].parts)
    parts["between"] = max(launch.elapsed_s - sum(spent.total for spent in found.values()), 0.0)
    start = None if before is None else start_s(launch, before)
    if start is not None:
        parts["launch"] = start
    return {**found, first: TimeSpent(parts, found[first].scheduled)}


def loops_s(phase: PhaseRecord) -> float:
    """Return the accounted seconds without the sync, which is what the schedule counts."""
    return max(pattern_s(phase) - seconds_of(phase, "sync_s"), 0.0)


def start_s(launch: Launch, before: Launch) -> float | None:
    """Return the seconds from the end of one launch to the start of the next one.

    In that time processes end, and others start with their MPI. None where it is not known, where the run was
    interrupted in between, or where it is too long for a start.
    """
    if before.end is None or before.end.status == "interrupted":
        return None
    by_wall = _wall_s(launch.run, before.run)
    by_clock = (launch.run.origin_ns - before.run.origin_ns) / NS_PER_S
    # Both origins count from the same boot of the machine only where their difference agrees with the calendar.
    apart = by_clock if by_wall is None or abs(by_wall - by_clock) <= _WALL_S else by_wall
    seconds = apart - before.elapsed_s
    return seconds if 0 < seconds <= _LONGEST_START_S else None


def _wall_s(run: RunRecord, before: RunRecord) -> float | None:
    try:
        return (datetime.fromisoformat(run.started) - datetime.fromisoformat(before.started)).total_seconds()
    except (ValueError, TypeError):
        return None
