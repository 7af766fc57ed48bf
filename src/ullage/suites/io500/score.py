# SPDX-License-Identifier: Apache-2.0
"""The score of IO500: geometric means of the phases in GiB/s and kIOPS, and the geometric mean of both.

Values are bytes/s and operations/s by the official name of their phase; scores are in the official units.

The total is a product of powers: a phase of bandwidth counts with the power 1/8, one of metadata with 1/16 (1/22 in the
extended mode). So 10 % more in a phase moves the total alike whatever its value is; what its value says is how much
there is to gain.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal, TypeAlias

from ullage.analysis.attribution import Mover
from ullage.analysis.statistics.intervals import Interval, bootstrap_interval
from ullage.grouping import grouped
from ullage.model.summary import Score
from ullage.quantity import times
from ullage.suites.io500.phases import BY_NAME, Mode, OfficialPhase, counted_phases, modes_of

Part: TypeAlias = Literal["bandwidth", "metadata", "total"]
PARTS: Final[dict[Part, str]] = {"bandwidth": "GiB/s", "metadata": "kIOPS", "total": ""}
_ORDER: Final[tuple[Part, ...]] = ("total", "bandwidth", "metadata")
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
    halves = grouped((phase.kind, values[phase.name] / phase.factor) for phase in phases if phase.name in values)
    bandwidth, metadata = (geometric_mean(halves.get(kind, [])) for kind in ("BW", "MD"))
    total = None if bandwidth is None or metadata is None else math.sqrt(bandwidth * metadata)
    missing = tuple(phase.name for phase in phases if phase.name not in values)
    return Io500Score(bandwidth, metadata, total, missing)


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
    found: list[Score] = []
    for one in modes_of(mode):
        whole, why = score_of_medians(samples, one), list(reasons.get(one, ()))
        for part in _ORDER:
            value, interval = whole.part(part), score_interval(samples, part, one)
            low, high = (None, None) if interval is None or interval.below_level else (interval.low, interval.high)
            if value is not None:
                name = score_name(part, one, label)
                found.append(
                    Score(name=name, unit=PARTS[part], value=value, low=low, high=high, valid=not why, reasons=why)
                )
    return found


def score_name(part: Part, mode: Mode = "standard", label: str = "") -> str:
    """Name a score: ``IO500``, ``IO500 bandwidth``, ``IO500 extended metadata``; with a label ``IO500 of 160x16``."""
    words = ["IO500", "extended" if mode == "extended" else "", "" if part == "total" else part]
    return " ".join([*filter(None, words), *(["of", label] if label else [])])


IMPROVEMENT: Final = 0.1
# A smaller loss is not worth a sentence: the phases of one half are never all alike.
_NOTABLE_LOSS: Final = 1.2
_HALVES: Final = {"BW": "bandwidth", "MD": "metadata"}


@dataclass(frozen=True, slots=True)
class PhaseInfluence:
    """What one phase does to the total.

    ``power``: the one it counts with. ``gain``: the total over what it is, when the phase alone improves by 10 %.
    ``others``: geometric mean of the other phases of its half; ``loss``: the total over what it is, when the phase
    reaches that; below 1 where it is better than the others. Null where there are no others.
    """

    phase: str
    value: float
    power: float
    gain: float
    others: float | None
    loss: float | None


@dataclass(frozen=True, slots=True)
class Family:
    """Phases of one half on one dataset together, against the rest of that half. ``mean`` and ``others`` in SI units;
    ``loss``: the total over what it is, when the family's mean reaches that of the others."""

    name: str
    kind: str
    phases: tuple[str, ...]
    mean: float
    others: float
    loss: float


def _counted(values: Mapping[str, float], mode: Mode) -> list[OfficialPhase]:
    return [phase for phase in counted_phases(values, mode) if values.get(phase.name, 0.0) > 0]


def _power(phase: OfficialPhase, counted: Sequence[OfficialPhase]) -> float:
    return 0.5 / sum(other.kind == phase.kind for other in counted)


def sensitivity(
    values: Mapping[str, float], mode: Mode = "standard", improvement: float = IMPROVEMENT
) -> list[PhaseInfluence]:
    """Return the influence of each scored phase that ran, in official order; ``improvement`` 0.1 means 10 % more."""
    counted = _counted(values, mode)
    found: list[PhaseInfluence] = []
    for phase in counted:
        power, value = _power(phase, counted), values[phase.name]
        others = geometric_mean([values[p.name] for p in counted if p.kind == phase.kind and p is not phase])
        loss = None if others is None else (others / value) ** power
        found.append(PhaseInfluence(phase.name, value, power, (1 + improvement) ** power, others, loss))
    return found


def families(values: Mapping[str, float], mode: Mode = "standard", doubted: Collection[str] = ()) -> list[Family]:
    """Return datasets with what their phases take from their half's mean, most first; find is one of its own.

    Those with a ``doubted`` phase are left out, and no other is held against such a phase.
    """
    counted = _counted(values, mode)
    known = [phase for phase in counted if phase.name not in doubted]
    unsure = {(phase.kind, phase.dataset) for phase in counted if phase.name in doubted}
    groups = grouped(((p.kind, "find" if p.workload == "find" else p.dataset), p) for p in known)
    found: list[Family] = []
    for (kind, name), phases in groups.items():
        rest = [values[phase.name] for phase in known if phase.kind == kind and phase not in phases]
        mean, others = geometric_mean([values[phase.name] for phase in phases]), geometric_mean(rest)
        if mean and others and (kind, name) not in unsure:
            loss = (others / mean) ** (_power(phases[0], counted) * len(phases))
            found.append(Family(name, kind, tuple(phase.name for phase in phases), mean, others, loss))
    return sorted(found, key=lambda family: -family.loss)


def movers(
    first: Mapping[str, float], second: Mapping[str, float], mode: Mode = "standard", doubted: Collection[str] = ()
) -> tuple[Mover, ...]:
    """Return what each phase did to the total from ``first`` to ``second``, in official order.

    Only phases that both have count: the product of all is then the ratio of the totals over these phases.
    """
    both = [phase for phase in _counted(first, mode) if second.get(phase.name, 0.0) > 0]
    return tuple(
        Mover(
            phase.name,
            phase.unit,
            first[phase.name] / phase.factor,
            second[phase.name] / phase.factor,
            _power(phase, both) * math.log(second[phase.name] / first[phase.name]),
            phase.name in doubted,
        )
        for phase in both
    )


def explain(values: Mapping[str, float], mode: Mode = "standard", doubted: Collection[str] = ()) -> list[str]:
    """Say in sentences where the score comes from, the whole first; nothing without a total above 0.

    None rests on a ``doubted`` phase.
    """
    whole = score({phase.name: values[phase.name] for phase in _counted(values, mode)}, mode)
    if not whole.total or whole.bandwidth is None or whole.metadata is None:
        return []
    head = (
        f"The IO500 score of {number(whole.total)} is the geometric mean of {number(whole.bandwidth)} GiB/s and "
        f"{number(whole.metadata)} kIOPS"
    )
    lost = [family for family in families(values, mode, doubted) if family.loss > 1]
    if not lost or lost[0].loss < _NOTABLE_LOSS:
        return [f"{head}." if doubted else f"{head}. No phase is far below the others of its half."]
    # Named are the family that takes most, the first, and each that takes at least half as much (by logarithms).
    named = [family for family in lost if math.log(family.loss) >= math.log(lost[0].loss) / 2]
    names = [family.name for family in named]
    return [
        f"{head}. {' and '.join(names)} {'lowers' if len(names) == 1 else 'lower'} it most.",
        *(
            _of_family(family, values, whole.total)
            for family in lost
            if family.loss >= _NOTABLE_LOSS or family in named
        ),
    ]


def _of_family(family: Family, values: Mapping[str, float], total: float) -> str:
    worst = min(family.phases, key=lambda name: values[name])
    alone = f"{worst} reaches {show(worst, values[worst])}"
    mean = f"; the geometric mean of {family.name} is {show(worst, family.mean)}" if len(family.phases) > 1 else ""
    return (
        f"{alone}{mean}, that of the other {_HALVES[family.kind]} phases {show(worst, family.others)}. With "
        f"{family.name} at that rate the total would be {number(total * family.loss)}, {times(family.loss)} as high."
    )


def show(phase: str, value: float) -> str:
    """Show a value of ``phase`` in its official unit: ``0.0210 GiB/s``."""
    official = BY_NAME[phase]
    return f"{number(value / official.factor)} {official.unit}"


def number(value: float) -> str:
    """Show four significant digits, with commas from a thousand on."""
    if value == 0 or not math.isfinite(value):
        return str(value)
    decimals = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, 9)}f}"
