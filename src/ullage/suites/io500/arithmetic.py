# SPDX-License-Identifier: Apache-2.0
"""A table held against its own arithmetic: phases on one dataset handle the items that its write has made. Pure.

The time that a phase prints is longer than what its rate was measured over: it may hold the removal of a tree, a sleep,
a second pass. So rate x time is the most that a phase has handled, and only a phase with fewer than the write has made
contradicts it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.phrasing import columns
from ullage.model.summary import Finding
from ullage.quantity import listing
from ullage.suites.io500.phases import BY_NAME
from ullage.units import format_volume

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
