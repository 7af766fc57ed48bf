# SPDX-License-Identifier: Apache-2.0
"""b_eff 3.6: what the records say of patterns, sizes and methods, a repetition at a time, and its formulas. Pure.

b_eff = sqrt(geometric mean over the rings x geometric mean over the random rings) of the value of a pattern, which is
the arithmetic mean over 21 sizes of the best bandwidth of all methods and repetitions. The engine writes one phase for
each size. In its gauges stand the seconds of each pattern and method (the longest of all ranks) and the loops; in its
counters the messages that all ranks together send in one loop.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, geometric_mean, median
from typing import Final

from ullage.analysis.metrics.arithmetic import NS_PER_S, stage_span_ns
from ullage.analysis.statistics.intervals import Interval, bootstrap_interval
from ullage.analysis.verdicts.grades import row_grade, worst_grade
from ullage.arrays import np
from ullage.grouping import nested
from ullage.model.record import CaseRecord, Grade, PhaseRecord, RunRecord
from ullage.reading import child, children
from ullage.results.rows import Measured
from ullage.runs.kernels.message_pages import MessagePages, pages_of
from ullage.suites.b_eff.options import WARMED_SIZES

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

    def ping_pongs(self, size: int) -> list[Loop]:
        """Return the ping-pongs of one pair with the size of that number, one for each repetition that has it."""
        found = (repetition.loops.get((PING_PONG, size, METHODS[0])) for repetition in self.repetitions)
        return [loop for loop in found if loop is not None]


def read_runs(measured: Iterable[Measured], repetitions: int | None = None) -> list[BEffRun]:
    """Make a run of each case, with its first ``repetitions`` repetitions at most.

    The maximum over more repetitions than others had would be no fair one.
    """
    by_case: dict[str, dict[tuple[int, int], list[Measured]]] = {}
    for item in measured:
        is_ours = item.case.workload == WORKLOAD and item.phase.phase.startswith("size-")
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
    known = {name: child(facts, "patterns", name) for name in messages}
    return BEffRun(
        run=last.run,
        case=last.case,
        sizes=tuple(round(phase.gauges["message_bytes"].most) for phase in phases),
        patterns={name: _facts_of(known[name]) for name in sorted(messages, key=_place)},
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
    size = phase.gauges["message_bytes"].most
    for name, gauge in phase.gauges.items():
        kind, _, rest = name.partition("/")
        if kind != "t" or gauge.most <= 0:
            continue
        pattern, _, method = rest.removesuffix("_s").rpartition("/")
        loops = phase.gauges.get(f"loops/{pattern}/{method}") or phase.gauges.get(f"loops/{method}")
        messages = phase.counters.get(f"messages/{pattern}", 0)
        if loops is not None and messages:
            yield pattern, method, Loop(size, messages, loops.most, gauge.most)


def _place(name: str) -> tuple[int, int, str]:
    """Return the key that sorts patterns in the order of the original, which an object of JSON has lost."""
    if name.startswith((RING, RANDOM)):
        return (0 if name.startswith(RING) else 1), 0, name
    return 2, ADDITIONAL.index(name) if name in ADDITIONAL else len(ADDITIONAL), name


def _facts_of(told: Mapping[str, object]) -> PatternFacts:
    rings, dims = (tuple(one for one in children(told, name) if isinstance(one, int)) for name in ("rings", "dims"))
    return PatternFacts(rings, dims, told.get("degenerate") is True)


Choose = Callable[[Sequence[float]], float]
# With fewer repetitions few different samples can be drawn, and no interval of a median reaches 95 % either.
_FEWEST_TO_RESAMPLE: Final = 6


def combine(rings: Sequence[float], random: Sequence[float]) -> float | None:
    """Return the geometric mean of both groups' geometric means, or None where a group has no pattern.

    Both groups weigh the same, however many patterns each has.
    """
    if not rings or not random:
        return None
    return math.sqrt(geometric_mean(rings) * geometric_mean(random))


class Values:
    """Bandwidth of each pattern and size, accumulated over all processes: of all methods the best one.

    ``choose``: what the repetitions count together, ``max`` as the definition has it, or the median. ``methods``:
    those that count.
    """

    def __init__(
        self,
        run: BEffRun,
        choose: Choose = max,
        methods: Sequence[str] = METHODS,
        repetitions: Sequence[Repetition] | None = None,
    ) -> None:
        self.run = run
        of_place: dict[tuple[str, int], list[dict[str, float]]] = {}
        for repetition in run.repetitions if repetitions is None else repetitions:
            own = nested(
                ((pattern, size), method, loop.bandwidth)
                for (pattern, size, method), loop in repetition.loops.items()
                if method in methods
            )
            for place, by_method in own.items():
                of_place.setdefault(place, []).append(by_method)
        self._found = {place: _best_of(by_method, choose) for place, by_method in of_place.items()}

    def at(self, pattern: str, size: int) -> float | None:
        """Return the bandwidth of one pattern at the size of that number, or None."""
        return self._found.get((pattern, size))

    def pattern(self, pattern: str) -> float | None:
        """Return the arithmetic mean over all sizes, or None where a size is missing."""
        sizes = range(len(self.run.sizes))
        known = [value for size in sizes if (value := self.at(pattern, size)) is not None]
        return fmean(known) if known and len(known) == len(sizes) else None

    def patterns(self, names: Iterable[str]) -> list[float]:
        """Return the means of those patterns that have one."""
        return [value for name in names if (value := self.pattern(name)) is not None]

    def at_all(self, names: Iterable[str], size: int) -> list[float]:
        """Return the bandwidths of those patterns that have one at that size."""
        return [value for name in names if (value := self.at(name, size)) is not None]

    @property
    def b_eff(self) -> float | None:
        """The value of the whole."""
        return combine(self.patterns(self.run.rings), self.patterns(self.run.random))

    def b_eff_at(self, size: int) -> float | None:
        """Return b_eff of the size of that number alone, or None where a group has no bandwidth there."""
        return combine(self.at_all(self.run.rings, size), self.at_all(self.run.random, size))

    def rings_at(self, size: int) -> float | None:
        """Return the geometric mean over the rings alone, or None without any."""
        return geometric_mean(found) if (found := self.at_all(self.run.rings, size)) else None

    def random_at(self, size: int) -> float | None:
        """Return the geometric mean over the random rings alone, or None without any."""
        return geometric_mean(found) if (found := self.at_all(self.run.random, size)) else None


def _best_of(repetitions: Sequence[Mapping[str, float]], choose: Choose) -> float:
    """Return what the repetitions of a place count together: of the methods that all of them have, the best one.

    Where they have not the same methods, as of the largest sizes, each counts with its own best. The median of a method
    that few have would be the best of all by chance.
    """
    methods = repetitions[0].keys()
    if all(one.keys() == methods for one in repetitions):
        return max(choose([one[method] for one in repetitions]) for method in methods)
    return choose([max(one.values()) for one in repetitions])


def median_b_eff(run: BEffRun, level: float = 0.95) -> Interval | None:
    """Return b_eff of the median repetition of each method with its interval; None with a single repetition.

    A whole repetition is what is resampled: what one measures shares the machine's weather. Below 6 there is nothing
    to resample, and the level reached is 0: what the repetitions give by themselves are values of another formula.
    """
    estimate = Values(run, median).b_eff
    count = len(run.repetitions)
    if estimate is None or count < 2:
        return None
    if count < _FEWEST_TO_RESAMPLE:
        return Interval(estimate, estimate, estimate, 0.0, level)
    of = _median_of(run)
    return bootstrap_interval([float(index) for index in range(count)], of, level=level)


def _median_of(run: BEffRun) -> Callable[[Sequence[float]], float]:
    """Return a function from numbers of repetitions to b_eff of their medians.

    It is fast, since it is asked thousands of times. See ``_best_of``: a repetition without any method at a place has
    there the median of the others.
    """
    names, sizes = [*run.rings, *run.random], range(len(run.sizes))
    table = np.zeros((len(run.repetitions), len(names), len(run.sizes), len(METHODS)))
    for row, name in enumerate(names):
        for size in sizes:
            for column, method in enumerate(METHODS):
                loops = [repetition.loops.get((name, size, method)) for repetition in run.repetitions]
                table[:, row, size, column] = [0.0 if loop is None else loop.bandwidth for loop in loops]
    rings, each = len(run.rings), table.max(axis=3)
    each[each == 0] = np.nan
    each = np.where(np.isnan(each), np.nanmedian(each, axis=0), each)
    alike = ((table > 0) == (table[:1] > 0)).all(axis=(0, 3))

    def of(indices: Sequence[float]) -> float:
        picked = [int(index) for index in indices]
        best = np.where(alike, np.median(table[picked], axis=0).max(axis=2), np.median(each[picked], axis=0))
        logs = np.log(best.mean(axis=1))
        return float(np.exp((logs[:rings].mean() + logs[rings:].mean()) / 2))

    return of


def latency_s(processes: int, bandwidth_of_one_byte: float) -> float:
    """Return the seconds of a message of one byte, as in the original's table: processes x 1 byte / bandwidth.

    It keeps the factor of the processes for rings too, which resolves D2 (see ``RESOLVED`` in report.py).
    """
    return processes / bandwidth_of_one_byte


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """Times in s of the whole run: ``elapsed`` in the timed stretches, ``accounted`` for by loops and what warms them
    up, and ``fastest``: were every loop as fast as in its fastest repetition."""

    elapsed: float
    accounted: float
    fastest: float

    @property
    def unaccounted(self) -> float:
        """Share of the elapsed time that nothing accounts for."""
        return max(0.0, 1 - self.accounted / self.elapsed) if self.elapsed > 0 else 0.0

    @property
    def slower(self) -> float:
        """How much longer the loops took than in their fastest repetitions, as a share of those."""
        return self.accounted / self.fastest - 1 if self.fastest > 0 else 0.0


def self_check(run: BEffRun) -> SelfCheck:
    """Compare elapsed, accounted and fastest times, as the original does: on an idle machine they are nearly alike."""
    fastest: dict[Cell, float] = {}
    for repetition in run.repetitions:
        for cell, loop in repetition.loops.items():
            each = loop.seconds / loop.loops
            fastest[cell] = min(fastest.get(cell, each), each)
    accounted = best = sum(repetition.probe_s for repetition in run.repetitions)
    for repetition in run.repetitions:
        for cell, loop in repetition.loops.items():
            loops = loop.loops + (1 if cell[1] < WARMED_SIZES else 0)
            accounted += loop.seconds * loops / loop.loops
            best += fastest[cell] * loops
    return SelfCheck(sum(repetition.elapsed_s for repetition in run.repetitions), accounted, best)
