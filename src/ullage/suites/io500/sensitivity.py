# SPDX-License-Identifier: Apache-2.0
"""Where a score comes from: what each phase takes from it, and what it would give if it were better.

The total is a product of powers: a phase of bandwidth counts with the power 1/8, one of metadata with 1/16 (1/22 in the
extended mode). So 10 % more in a phase moves the total alike whatever its value is; what its value says is how much
there is to gain. Values are bytes/s and operations/s by official name.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.attribution import Mover
from ullage.quantity import times
from ullage.suites.io500.phases import BY_NAME, Mode, OfficialPhase, counted_phases
from ullage.suites.io500.score import Io500Score, geometric_mean, score

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
    """Return the phases that have a power in the total of ``values``: scored ones with a value above 0."""
    return [phase for phase in counted_phases(values, mode) if values.get(phase.name, 0.0) > 0]


def _power(phase: OfficialPhase, counted: Sequence[OfficialPhase]) -> float:
    return 0.5 / sum(other.kind == phase.kind for other in counted)


def sensitivity(
    values: Mapping[str, float], mode: Mode = "standard", improvement: float = IMPROVEMENT
) -> list[PhaseInfluence]:
    """Return the influence of each scored phase that ran, in official order; ``improvement`` 0.1 means 10 % more."""
    counted = _counted(values, mode)
    return [_lever(phase, counted, values, improvement) for phase in counted]


def _lever(
    phase: OfficialPhase, counted: Sequence[OfficialPhase], values: Mapping[str, float], improvement: float
) -> PhaseInfluence:
    power, value = _power(phase, counted), values[phase.name]
    others = geometric_mean([values[p.name] for p in counted if p.kind == phase.kind and p is not phase])
    loss = None if others is None else (others / value) ** power
    return PhaseInfluence(phase.name, value, power, (1 + improvement) ** power, others, loss)


def families(values: Mapping[str, float], mode: Mode = "standard", doubted: Collection[str] = ()) -> list[Family]:
    """Return datasets with what their phases take from their half's mean, most first; find is one of its own.

    Those with a ``doubted`` phase are left out, and no other is held against such a phase.
    """
    counted = _counted(values, mode)
    known = [phase for phase in counted if phase.name not in doubted]
    groups: dict[tuple[str, str], list[OfficialPhase]] = {}
    for phase in known:
        name = "find" if phase.workload == "find" else phase.dataset
        groups.setdefault((phase.kind, name), []).append(phase)
    found: list[Family] = []
    for (kind, name), phases in groups.items():
        rest = [phase for phase in known if phase.kind == kind and phase not in phases]
        mean = geometric_mean([values[phase.name] for phase in phases])
        others = geometric_mean([values[phase.name] for phase in rest])
        if mean and others:
            loss = (others / mean) ** (_power(phases[0], counted) * len(phases))
            if _has_doubted(name, kind, counted, doubted):
                continue
            found.append(Family(name, kind, tuple(phase.name for phase in phases), mean, others, loss))
    return sorted(found, key=lambda family: -family.loss)


def _has_doubted(name: str, kind: str, counted: Iterable[OfficialPhase], doubted: Collection[str]) -> bool:
    return any(phase.name in doubted and (phase.kind, phase.dataset) == (kind, name) for phase in counted)


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
    lost = [family for family in families(values, mode, doubted) if family.loss >= _NOTABLE_LOSS]
    if not lost and doubted:
        return [f"{head}."]
    if not lost:
        return [f"{head}. No phase is far below the others of its half."]
    return [f"{head}. {_where_lost(lost)}.", *(_of_family(family, values, whole) for family in lost)]


def _where_lost(lost: Sequence[Family]) -> str:
    """Name the family that takes most, the first, and each that takes at least half as much (by logarithms)."""
    names = [family.name for family in lost if math.log(family.loss) >= math.log(lost[0].loss) / 2]
    return f"The phases that lower it most are those of {' and '.join(names)}"


def _of_family(family: Family, values: Mapping[str, float], whole: Io500Score) -> str:
    worst = min(family.phases, key=lambda name: values[name])
    half = _HALVES[family.kind]
    alone = f"{worst} reaches {show(worst, values[worst])}"
    mean = f", and all phases of {family.name} together {show(worst, family.mean)}" if len(family.phases) > 1 else ""
    total = (whole.total or 0.0) * family.loss
    return (
        f"{alone}{mean}. The other {half} phases reach {show(worst, family.others)} in the mean. With {family.name} "
        "at "
        f"that rate the total would be {number(total)}, {times(family.loss)} as high."
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
