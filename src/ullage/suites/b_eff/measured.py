# SPDX-License-Identifier: Apache-2.0
"""What the records of a b_eff run say: bandwidth by pattern, size and method, a repetition at a time. Pure.

The engine writes one phase for each size. In its gauges stand the seconds of each pattern and method (the longest of
all ranks) and the loops; in its counters the messages that all ranks together send in one loop.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.analysis.metrics.arithmetic import NS_PER_S, stage_span_ns
from ullage.analysis.verdicts.grades import row_grade, worst_grade
from ullage.model.record import CaseRecord, Grade, PhaseRecord, RunRecord
from ullage.results.rows import Measured
from ullage.runs.kernels.message_pages import MessagePages, pages_of
from ullage.suites.b_eff.options import COUNT

WORKLOAD: Final = "b-eff"
METHODS: Final = ("sendrecv", "alltoallv", "nonblocking")
RING: Final = "ring-"
RANDOM: Final = "random-"
PING_PONG: Final = "ping-pong"
RING_COUNT: Final = 6
ADDITIONAL: Final = (
    *("worst-cyclic", "best-bisection", "worst-bisection", PING_PONG, "acyclic-2d-all", "acyclic-3d-all"),
    *("cyclic-2d-x", "cyclic-2d-y", "cyclic-2d-all", "cyclic-3d-x", "cyclic-3d-y", "cyclic-3d-z", "cyclic-3d-all"),
)
_PHASE: Final = "size-"


@dataclass(frozen=True, slots=True)
class Loop:
    """One experiment: so many messages of all ranks together in each of ``loops``, which took ``seconds``."""

    message_bytes: float
    messages: int
    loops: float
    seconds: float

    @property
    def bandwidth(self) -> float:
        """Accumulated over all processes, bytes/s; every message counts once."""
        return self.message_bytes * self.messages * self.loops / self.seconds

    @property
    def one_way_s(self) -> float:
        """The time of one message of a ping-pong, whose two messages follow each other."""
        return self.seconds / (self.messages * self.loops)


Cell = tuple[str, int, str]
"""Consists of pattern, number of the size, and method."""


@dataclass(frozen=True)
class Repetition:
    """One repetition of all patterns.

    ``elapsed_s``: of the timed stretches; ``probe_s``: of the loops that tell how many there are to be.

    ``grade``: of all its phases.
    """

    loops: Mapping[Cell, Loop]
    elapsed_s: float
    probe_s: float
    grade: Grade | None

    def best(self, pattern: str, size: int) -> float | None:
        """Return the bandwidth by the method that is best here, or None where nothing was measured."""
        found = (self.loops.get((pattern, size, method)) for method in METHODS)
        return max((loop.bandwidth for loop in found if loop is not None), default=None)


@dataclass(frozen=True)
class PatternFacts:
    """What the engine tells about a pattern.

    ``rings``: sizes of them, or ``dims`` of a grid. ``degenerate``: the same as another at this number of ranks.
    """

    rings: tuple[int, ...] = ()
    dims: tuple[int, ...] = ()
    degenerate: bool = False


@dataclass(frozen=True)
class BEffRun:
    """One case over all its launches. ``patterns``: in the order in which they run."""

    run: RunRecord
    case: CaseRecord
    sizes: tuple[int, ...]
    patterns: Mapping[str, PatternFacts]
    messages: Mapping[str, int]
    repetitions: tuple[Repetition, ...]
    pages: MessagePages | None = None

    @property
    def ranks(self) -> int:
        """Processes."""
        return self.run.layout.ranks

    @property
    def grade(self) -> Grade | None:
        """The worst of its repetitions."""
        return worst_grade(one.grade for one in self.repetitions)

    @property
    def rings(self) -> list[str]:
        """Patterns of rings in rank order."""
        return [name for name in self.patterns if name.startswith(RING)]

    @property
    def random(self) -> list[str]:
        """Random rings."""
        return [name for name in self.patterns if name.startswith(RANDOM)]

    @property
    def additional(self) -> list[str]:
        """Patterns that are no part of b_eff."""
        return [name for name in self.patterns if not name.startswith((RING, RANDOM))]

    @property
    def is_whole(self) -> bool:
        """Whether every size was measured."""
        return len(self.sizes) == COUNT


def read_runs(measured: Iterable[Measured], repetitions: int | None = None) -> list[BEffRun]:
    """Make a run of each case, with its first ``repetitions`` repetitions at most.

    The maximum over more repetitions than others had would be no fair one.
    """
    by_case: dict[str, dict[tuple[int, int], list[Measured]]] = {}
    for item in measured:
        is_ours = item.case.workload == WORKLOAD and item.phase.phase.startswith(_PHASE)
        if is_ours and "message_bytes" in item.phase.gauges:
            key = id(item.run), item.phase.repetition
            by_case.setdefault(item.case.case, {}).setdefault(key, []).append(item)
    return [_run(list(groups.values()), repetitions) for groups in by_case.values()]


def _run(groups: Sequence[Sequence[Measured]], wanted: int | None) -> BEffRun:
    last = groups[-1][-1]
    phases = sorted((item.phase for item in groups[-1]), key=lambda phase: phase.phase)
    told = (item.phase.facts for group in groups for item in group if item.phase.facts)
    facts = next(told, dict[str, object]())
    messages = {
        name.removeprefix("messages/"): count
        for phase in phases
        for name, count in phase.counters.items()
        if name.startswith("messages/")
    }
    known = _patterns(facts)
    return BEffRun(
        run=last.run,
        case=last.case,
        sizes=tuple(round(phase.gauges["message_bytes"].most) for phase in phases),
        patterns={name: known.get(name, PatternFacts()) for name in sorted(messages, key=_place)},
        messages=messages,
        repetitions=tuple(_repetition([item.phase for item in group]) for group in groups[:wanted]),
        pages=pages_of(item.phase for group in groups for item in group),
    )


def _repetition(phases: Sequence[PhaseRecord]) -> Repetition:
    ordered = sorted(phases, key=lambda phase: phase.phase)
    probes = (gauge.most for phase in ordered for name, gauge in phase.gauges.items() if name.startswith("probe/"))
    loops = {
        (pattern, size, method): loop for size, phase in enumerate(ordered) for pattern, method, loop in _loops(phase)
    }
    return Repetition(
        loops=loops,
        elapsed_s=sum(stage_span_ns(phase.stages.get("transfer")) for phase in ordered) / NS_PER_S,
        probe_s=sum(probes),
        grade=row_grade(ordered),
    )


def _loops(phase: PhaseRecord) -> Iterable[tuple[str, str, Loop]]:
    size = _most(phase, "message_bytes")
    for name, gauge in phase.gauges.items():
        kind, _, rest = name.partition("/")
        if kind != "t" or gauge.most <= 0:
            continue
        pattern, _, method = rest.removesuffix("_s").rpartition("/")
        loops = phase.gauges.get(f"loops/{pattern}/{method}") or phase.gauges.get(f"loops/{method}")
        messages = phase.counters.get(f"messages/{pattern}", 0)
        if loops is not None and messages:
            yield pattern, method, Loop(size, messages, loops.most, gauge.most)


def _most(phase: PhaseRecord, name: str) -> float:
    gauge = phase.gauges.get(name)
    return 0.0 if gauge is None else gauge.most


def _place(name: str) -> tuple[int, int, str]:
    """Return the key that sorts patterns in the order of the original, which an object of JSON has lost."""
    if name.startswith((RING, RANDOM)):
        return (0 if name.startswith(RING) else 1), 0, name
    return 2, ADDITIONAL.index(name) if name in ADDITIONAL else len(ADDITIONAL), name


def _patterns(facts: Mapping[str, object]) -> dict[str, PatternFacts]:
    told = facts.get("patterns")
    if not isinstance(told, Mapping):
        return {}
    found = cast("Mapping[str, object]", told).items()
    return {name: _facts(cast("Mapping[str, object]", value)) for name, value in found if isinstance(value, Mapping)}


def _facts(told: Mapping[str, object]) -> PatternFacts:
    return PatternFacts(_whole(told.get("rings")), _whole(told.get("dims")), told.get("degenerate") is True)


def _whole(value: object) -> tuple[int, ...]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, int))
