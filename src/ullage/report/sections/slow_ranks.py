# SPDX-License-Identifier: Apache-2.0
"""How far apart the ranks of each phase were, and which were the slowest."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ullage.model.record import PhaseRecord, RankTime
from ullage.report.charts.time_series import spread_of
from ullage.report.contents import Content, Grid, Heading, Section
from ullage.report.data import ReportData
from ullage.report.phases import NamedPhase, labeller, named_phases
from ullage.report.quantity import format_quantity, plural, significant
from ullage.report.table import Cell, number_cell

_NS_PER_S: Final = 1e9
# Below this a slowest rank is chance, and to count it would accuse a node for nothing.
_NOTABLE_SPREAD: Final = 1.1
_FEWEST_TIMES: Final = 3
_MOST_NAMED: Final = 3
_COLUMNS: Final = (
    Heading("phase"),
    Heading("slowest / fastest", is_number=True),
    Heading("fastest rank"),
    Heading("slowest ranks"),
)


def build(data: ReportData) -> Content | None:
    """None where no record of a named phase tells its ranks apart."""
    phases = named_phases(data)
    found = [(phase, record) for phase in phases if (record := _widest(phase.records)) is not None]
    if not found:
        return None
    label, widest = labeller(phases), max(spread_of(record) for _, record in found)
    rows = [_cells(label(phase), record, widest) for phase, record in found]
    return Content(notes=_repeatedly_slow(found), grids=[Grid("", _COLUMNS, rows)])


def _widest(records: Sequence[PhaseRecord]) -> PhaseRecord | None:
    """The repetition whose ranks were furthest apart, of those with more than one rank."""
    told = [record for record in records if record.ranks > 1 and record.by_rank is not None and record.by_rank.slowest]
    return max(told, key=spread_of, default=None)


def _cells(label: str, record: PhaseRecord, widest: float) -> list[Cell]:
    spread, by_rank = spread_of(record), record.by_rank
    bar = (spread - 1) / (widest - 1) if widest > 1 else None
    slowest = by_rank.slowest if by_rank is not None else []
    return [
        Cell(label, css="target nowrap"),
        number_cell(f"{significant(spread)}x", bar=bar),
        Cell(_rank(by_rank.fastest) if by_rank is not None else ""),
        Cell("; ".join(map(_rank, slowest))),
    ]


def _rank(found: RankTime) -> str:
    return f"rank {found.rank} on {found.node}: {format_quantity(found.elapsed_ns / _NS_PER_S, 's')}"


def _repeatedly_slow(found: Sequence[tuple[NamedPhase, PhaseRecord]]) -> list[str]:
    """A sentence on ranks that were the slowest of several phases: a sign of the node, not of the phase."""
    notable = [record for _, record in found if spread_of(record) >= _NOTABLE_SPREAD]
    slowest = [record.by_rank.slowest[0] for record in notable if record.by_rank is not None]
    counts = Counter((rank.rank, rank.node) for rank in slowest).most_common(_MOST_NAMED)
    named = [
        f"rank {rank} on {node} in {plural(count, 'phase')}" for (rank, node), count in counts if count >= _FEWEST_TIMES
    ]
    return [f"Slowest again and again: {', '.join(named)} of {len(notable)} with unequal ranks."] if named else []


SECTION: Final = Section(
    name="slow_ranks",
    title="Ranks",
    doc="Time of the slowest rank over that of the fastest, in the repetition where they were furthest apart.",
    order=70,
    build=build,
)
