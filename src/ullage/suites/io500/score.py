# SPDX-License-Identifier: Apache-2.0
"""The score of IO500: geometric means of the phases in GiB/s and kIOPS, and the geometric mean of both.

Values are bytes/s and operations/s by the official name of their phase; scores are in the official units.

A table is also held against its own arithmetic: phases on one dataset handle the items that its write has made. The
time that a phase prints is longer than what its rate was measured over: it may hold the removal of a tree, a sleep, a
second pass. So rate x time is the most that a phase has handled, and only a phase with fewer than the write has made
contradicts it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.analysis.findings.phrasing import columns
from ullage.analysis.statistics import Interval, bootstrap_interval, median
from ullage.model.summary import Finding, Score
from ullage.quantity import listing
from ullage.suites.io500.phases import BY_NAME, Mode, OfficialPhase, counted_phases
from ullage.units import format_volume

Part: TypeAlias = Literal["bandwidth", "metadata", "total"]
PARTS: Final[dict[Part, str]] = {"bandwidth": "GiB/s", "metadata": "kIOPS", "total": ""}
# With fewer rounds the bootstrap's interval is too narrow, and no interval of a median reaches 95 % either.
_FEWEST_TO_RESAMPLE: Final = 6


@dataclass(frozen=True, slots=True)
class Io500Score:
    """The score and its two halves.

    ``bandwidth`` in GiB/s, ``metadata`` in kIOPS; null where no phase of it ran. ``missing``: those that did not.
    """

    bandwidth: float | None
    metadata: float | None
    total: float | None
    missing: tuple[str, ...] = ()

    def part(self, name: Part) -> float | None:
        """Return one of the three by its name."""
        return {"bandwidth": self.bandwidth, "metadata": self.metadata, "total": self.total}[name]


def score(values: Mapping[str, float], mode: Mode = "standard") -> Io500Score:
    """Compute the score of ``values``; as officially, a phase that is not there is left out of its mean, not zeroed."""
    phases = counted_phases(values, mode)
    bandwidth = _mean(values, [phase for phase in phases if phase.kind == "BW"])
    metadata = _mean(values, [phase for phase in phases if phase.kind == "MD"])
    total = None if bandwidth is None or metadata is None else math.sqrt(bandwidth * metadata)
    missing = tuple(phase.name for phase in phases if phase.name not in values)
    return Io500Score(bandwidth, metadata, total, missing)


def _mean(values: Mapping[str, float], phases: Sequence[OfficialPhase]) -> float | None:
    return geometric_mean([values[phase.name] / phase.factor for phase in phases if phase.name in values])


def geometric_mean(values: Sequence[float]) -> float | None:
    """Compute through logs, so that no product overflows; 0 when one is 0, None without any."""
    if not values:
        return None
    if min(values) <= 0:
        return 0.0
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def score_of_medians(samples: Mapping[str, Sequence[float]], mode: Mode = "standard") -> Io500Score:
    """Compute the score of the medians of each phase's repetitions; a phase without any did not run."""
    return score({name: median(values) for name, values in samples.items() if values}, mode)


def score_interval(
    samples: Mapping[str, Sequence[float]], part: Part = "total", mode: Mode = "standard"
) -> Interval | None:
    """Return how well the score of the medians is known; None with a single repetition or without a score.

    A round, one repetition of every phase, is what is resampled: phases of one round share the machine's weather. Below
    6 rounds there is nothing to resample, and the level reached is 0. Rounds beyond those that every phase has are left
    out.
    """
    kept = {phase.name: samples[phase.name] for phase in counted_phases(samples, mode) if samples.get(phase.name)}
    rounds = min((len(values) for values in kept.values()), default=0)

    def of_rounds(indices: Sequence[float]) -> float:
        picked = {name: [values[int(index)] for index in indices] for name, values in kept.items()}
        return score_of_medians(picked, mode).part(part) or 0.0

    if rounds < 2 or score_of_medians(kept, mode).part(part) is None:
        return None
    indices = [float(index) for index in range(rounds)]
    if rounds >= _FEWEST_TO_RESAMPLE:
        return bootstrap_interval(indices, of_rounds)
    estimate = of_rounds(indices)
    return Interval(estimate, estimate, estimate, 0.0)


def summary_scores(
    samples: Mapping[str, Sequence[float]],
    reasons: Mapping[Mode, Sequence[str]],
    mode: Mode = "standard",
    label: str = "",
) -> list[Score]:
    """Return the scores of a summary, total first, those of the extended mode after the standard ones.

    ``reasons`` say for each mode what voids it, nothing when it is valid; ``label`` goes after the names, to tell runs
    apart. A score of which no phase ran is left out.
    """
    modes: list[Mode] = ["standard", "extended"] if mode == "extended" else ["standard"]
    found: list[Score] = []
    for one in modes:
        for part in ("total", "bandwidth", "metadata"):
            value = score_of_medians(samples, one).part(part)
            if value is None:
                continue
            interval = score_interval(samples, part, one)
            found.append(
                Score(
                    name=score_name(part, one, label),
                    unit=PARTS[part],
                    value=value,
                    low=None if interval is None or interval.below_level else interval.low,
                    high=None if interval is None or interval.below_level else interval.high,
                    valid=not reasons[one],
                    reasons=list(reasons[one]),
                )
            )
    return found


def score_name(part: Part, mode: Mode = "standard", label: str = "") -> str:
    """Name a score: ``IO500``, ``IO500 bandwidth``, ``IO500 extended metadata``; with a label ``IO500 of 160x16``."""
    words = ["IO500", "extended" if mode == "extended" else "", "" if part == "total" else part]
    return " ".join([*filter(None, words), *(["of", label] if label else [])])


# -- a table held against its own arithmetic ---------------------------------------------------------------------------


# A phase that was cut by its time and completed afterwards has handled up to this many times what its rate says.
_MOST_APART: Final = 2.0
# The time of a write holds the making of its tree and a sync: so much more than others it may seem to have handled.
_SURELY_MORE: Final = 1.5
# mdtest sleeps so long in each phase before it begins to measure.
_ASLEEP_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Phases of ``dataset``, and bytes or items that each of them handled by its own rate and time."""

    dataset: str
    amounts: Mapping[str, float]

    @property
    def text(self) -> str:
        """``mdtest-easy-write 4,760,000,000 items and mdtest-easy-stat 213,000,000 items``."""
        return listing([f"{name} {_amount(name, value)}" for name, value in self.amounts.items()], len(self.amounts))


def contradictions(printed: Mapping[str, tuple[float, float]]) -> list[Contradiction]:
    """Return the datasets whose phases cannot all be right; ``printed`` gives SI rate and seconds of each phase."""
    datasets: dict[str, dict[str, float]] = {}
    made: dict[str, float] = {}
    for name, (rate, seconds) in printed.items():
        phase = BY_NAME[name]
        if phase.scored_phase and phase.workload in {"transfer", "metadata"} and rate > 0 and seconds > 0:
            datasets.setdefault(phase.dataset, {})[name] = rate * seconds
            if phase.scored_phase in {"write", "create"}:
                made[phase.dataset] = rate * max(seconds - _ASLEEP_S, 0.0)
    return [
        Contradiction(dataset, amounts)
        for dataset, amounts in datasets.items()
        if max(amounts.values()) > _MOST_APART * min(amounts.values())
        and made.get(dataset, 0.0) > _SURELY_MORE * min(amounts.values())
    ]


def doubted(found: list[Contradiction]) -> frozenset[str]:
    """Return the phases on which no sentence may rest, as it cannot be told which of a dataset's is wrong."""
    return frozenset(name for one in found for name in one.amounts)


def score_reason(found: list[Contradiction]) -> list[str]:
    """Return what stands beside the score: which datasets contradict themselves; nothing without any."""
    if not found:
        return []
    names = listing([one.dataset for one in found], len(found))
    return [f"rate x time of the phases on {names} does not agree: the score counts these rates as printed"]


def arithmetic_findings(found: list[Contradiction], target: str) -> list[Finding]:
    """Return one finding for each dataset that contradicts itself."""
    lead = f"{target}: " if target else ""
    return [
        Finding(
            kind="io500-arithmetic",
            title=f"{lead}{'the' if lead else 'The'} phases on {one.dataset} contradict each other",
            text=f"{lead}the phases on {one.dataset} handle the same items, but their rate x time does not agree: "
            f"{one.text}. The score counts their rates as printed. No finding rests on these phases.",
            severity="warning",
            numbers=columns(
                target=target, dataset=one.dataset, phase=list(one.amounts), amount=list(one.amounts.values())
            ),
        )
        for one in found
    ]


def _amount(name: str, value: float) -> str:
    return format_volume(round(value)) if BY_NAME[name].is_bandwidth else f"{float(f'{value:.3g}'):,.0f} items"
