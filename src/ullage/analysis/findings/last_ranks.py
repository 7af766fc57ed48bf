# SPDX-License-Identifier: Apache-2.0
"""Ranks that are the last of so many phases, by more than a little, that it is a sign of their node."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ullage.analysis.statistics.intervals import binomial_tail
from ullage.model.record import PhaseRecord

NOTABLE_SPREAD: Final = 1.1
"""Below this ratio of the slowest to the fastest rank, the slowest is chance."""
_FEWEST_PHASES: Final = 3
# The chance that a rank is named although all are equal. It is low, as a report's other sentences may be wrong too.
_CHANCE: Final = 0.01


@dataclass(frozen=True)
class LastRank:
    """A rank that was the slowest in ``phases`` of ``unequal`` phases."""

    rank: int
    node: str
    phases: int
    unequal: int


def spread_of(phase: PhaseRecord) -> float:
    """Return the time of the slowest rank over that of the fastest; 1 where it is not known."""
    if phase.by_rank is None or not phase.by_rank.slowest or phase.by_rank.fastest.elapsed_ns <= 0:
        return 1.0
    return phase.by_rank.slowest[0].elapsed_ns / phase.by_rank.fastest.elapsed_ns


def often_last(phases: Iterable[PhaseRecord]) -> list[LastRank]:
    """Return the ranks that are named; ``phases`` are those that nobody disturbed.

    One of equal ranks is the last of a phase with the chance 1 / ranks. The chance that any of them is so often the
    last (binomial, times the ranks: Bonferroni) is at most ``_CHANCE``.
    """
    unequal = [phase for phase in phases if phase.ranks > 1 and spread_of(phase) >= NOTABLE_SPREAD]
    slowest = [phase.by_rank.slowest[0] for phase in unequal if phase.by_rank is not None]
    # The fewest ranks of a phase make it most likely that one of them is the last.
    ranks, count = min((phase.ranks for phase in unequal), default=1), len(unequal)
    most = max((phase.ranks for phase in unequal), default=1)
    return [
        LastRank(rank, node, times, count)
        for (rank, node), times in Counter((one.rank, one.node) for one in slowest).most_common()
        if times >= _FEWEST_PHASES and most * binomial_tail(count, times, 1 / ranks) <= _CHANCE
    ]
