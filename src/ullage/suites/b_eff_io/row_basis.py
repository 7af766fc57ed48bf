# SPDX-License-Identifier: Apache-2.0
"""What rows that are made of many patterns stand on: the verdict of all their bytes together. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics import median_interval
from ullage.analysis.verdicts import NOTHING_BEHIND, Verdict, cache_verdict, combine_verdicts
from ullage.model.flags import Flag, each_once
from ullage.model.plan import Scalar
from ullage.model.record import Grade, Moved, PhaseRecord, RunRecord
from ullage.model.summary import Ceiling, Row
from ullage.results.row_checks import check_values
from ullage.results.rows import TargetFacts

_GRADES: Final = "ABC"
_DIRECTIONS: Final = ("write", "read")
Unit: TypeAlias = Literal["B/s", "B", "s"]


@dataclass(frozen=True)
class Basis:
    """``flags``: what the row shows besides what its values do."""

    verdict: Verdict = NOTHING_BEHIND
    grade: Grade | None = None
    ceiling: Ceiling | None = None
    case: str = ""
    flags: tuple[Flag, ...] = ()


def judge(rounds: Iterable[Sequence[PhaseRecord]], facts: TargetFacts, ceiling: str = "") -> Basis:
    """Of the patterns of each round together. ``ceiling``: the direction whose bound it has; empty for none."""
    known = [phases for phases in rounds if phases]
    if not known:
        return Basis()
    # Here it may be directions that differ, not repetitions.
    verdict = combine_verdicts(
        [verdict for phases in known for verdict in _verdicts(phases, facts)], are_repetitions=False
    )
    grades: list[Grade] = [phase.grade for phases in known for phase in phases]
    return Basis(verdict, max(grades, key=_GRADES.index), facts.ceilings.get(ceiling))


def _verdicts(phases: Sequence[PhaseRecord], facts: TargetFacts) -> list[Verdict]:
    """One for each direction."""
    by_direction = ([phase for phase in phases if phase.access == direction] for direction in _DIRECTIONS)
    return [
        cache_verdict(
            merge(alike), memory_target=facts.is_memory, remote_target=facts.is_remote, holds_data=facts.holds_data
        )
        for alike in by_direction
        if alike
    ]


def merge(phases: Sequence[PhaseRecord]) -> PhaseRecord:
    """As if all had been one, as far as a verdict needs it. A counter that one lacks, all lack."""
    moved = [phase.moved for phase in phases]
    known = [one for one in moved if one is not None]
    total = None
    if known and len(known) == len(moved):
        total = Moved(
            requested_bytes=sum(one.requested_bytes for one in known),
            process_bytes=_sum(one.process_bytes for one in known),
            device_bytes=_sum(one.device_bytes for one in known),
            client_bytes=_sum(one.client_bytes for one in known),
        )
    summed = {"bytes": sum(phase.bytes for phase in phases), "syncs": sum(phase.syncs for phase in phases)}
    return phases[0].model_copy(update={**summed, "moved": total, "resident": None})


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if any(value is None for value in known) else sum(value for value in known if value is not None)


def common_params(ranks: int, run: RunRecord | None, lmax: int | None, hint_set: str) -> dict[str, Scalar]:
    """What every row of a b_eff_io run says, after its own."""
    nodes = 0
    if run is not None:
        nodes = run.layout.nodes or -(-ranks // max(1, run.pinning.most_ranks_on_a_node))
    return {"ranks": ranks, "nodes": nodes, "lmax_bytes": lmax or 0, "hint_set": hint_set}


@dataclass(frozen=True)
class Made:
    """Everything of a row but what its samples say."""

    metric: str
    unit: Unit
    target: str
    params: dict[str, Scalar]
    basis: Basis
    flags: tuple[Flag, ...] = ()

    def row(self, samples: Sequence[float], level: float) -> Row:
        """Over one sample a round."""
        basis, interval = self.basis, median_interval(samples, level)
        values = check_values(samples, interval, None, basis.ceiling)
        several = len(samples) > 1
        return Row(
            metric=self.metric,
            unit=self.unit,
            better="less" if self.unit == "s" else "more",
            target=self.target,
            params=self.params,
            case=basis.case,
            median=interval.median,
            low=interval.low if several else None,
            high=interval.high if several else None,
            repetitions=list(samples),
            ceiling=basis.ceiling,
            share=None if basis.ceiling is None else interval.median / basis.ceiling.value,
            verdict=basis.verdict.text,
            verdict_reasons=list(basis.verdict.reasons),
            grade=basis.grade,
            flags=each_once([*self.flags, *values]),
        )
