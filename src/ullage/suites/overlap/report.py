# SPDX-License-Identifier: Apache-2.0
"""What a report shows of suite ``overlap``: shares, costs and gains by size and depth, and a map of each way."""

from collections.abc import Mapping, Sequence
from typing import Final

from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import DASH, format_row, percent, plural, significant
from ullage.report.answers import AnswerRule
from ullage.report.contents import Figure
from ullage.report.data import ReportData
from ullage.report.declared import Table, columns, storage_chart, storage_section, tables_of
from ullage.report.grids import Column, PhaseLine, of
from ullage.report.headlines import storage_rule
from ullage.report.plots import HeatMap
from ullage.report.vega import Spec, tooltip
from ullage.report.verdicts import caption, classify
from ullage.suites.overlap.findings import COST, SHARE, depth_of, order_of, size_of, way_of
from ullage.units import format_bytes

_SUITE: Final = "overlap"
_WIDTH: Final = 300
_MOST_WITH_TEXT: Final = 12
_TOOLTIP: Final = tooltip("what=batch text=overlap cost=computation_beside_I/O verdict flags")


_LEGEND: Final = (
    "Slowdown: time of the computation while I/O goes on over its time alone. Gain: blocking calls over both at once.",
    "Begun in: time of the calls that begin transfers over the I/O alone. Length: computation over I/O, each alone.",
)


def _notes(rows: Sequence[Row]) -> list[str]:
    cores = {row.ranks: row.count("cores_of_rank") for row in rows}
    told = [
        f"With {plural(ranks, 'rank')} each rank and its helper threads have {plural(own, 'core')}."
        for ranks, own in sorted(cores.items())
    ]
    reads = any(row.access == "read" for row in rows)
    return [*told, *(["Each rank reads what it has written itself."] if reads else []), *_LEGEND]


def _ratio_of_lengths(line: PhaseLine) -> str:
    """Return how long the computation is beside the I/O, as it was measured."""
    io, compute = line.rows.get("batch_io_time"), line.rows.get("batch_compute_time")
    return DASH if io is None or compute is None else f"{significant(compute.median / io.median)} x"


tables: Final = tables_of(
    _SUITE,
    [
        Table(
            columns(
                "backend method tests ranks block_bytes:bytes=size depth",
                Column("overlap", of(SHARE, lambda row: percent(row.median))),
                f"{SHARE}:interval {COST}=slowdown overlap_gain=gain",
                Column("begun in", of("start_share", lambda row: percent(row.median))),
                "batch_io_time=I/O",
                Column("length", _ratio_of_lengths),
                "io_alone_rate=rate_alone io_alone_rate:share verdict",
            ),
            lambda row: f"{row.target}: {row.access}",
        )
    ],
    order_of,
    _notes,
    only=lambda line: SHARE in line.rows,
)


def figures(data: ReportData) -> list[Figure]:
    """Return a map of sizes by depths for each target, access, way and number of ranks with more than one cell."""
    rows = sorted(data.rows_of(_SUITE), key=order_of)
    costs = {(row.case, row.access): row for row in rows if row.metric == COST}
    places = grouped(((row.target, row.access, way_of(row), row.ranks), row) for row in rows if row.metric == SHARE)
    return [
        _figure(f"{target} {access}, {way}, {plural(ranks, 'rank')}", some, costs)
        for (target, access, way, ranks), some in places.items()
        if len(some) > 1
    ]


def _figure(title: str, rows: Sequence[Row], costs: Mapping[tuple[str, str], Row]) -> Figure:
    sizes, depths = sorted({size_of(row) for row in rows}), sorted({depth_of(row) for row in rows})
    found = HeatMap(
        *([format_bytes(size) for size in sizes], [str(depth) for depth in depths], "size", "depth"),
        width=_WIDTH,
        most_with_text=_MOST_WITH_TEXT,
        least_step=12,
        text_height=26,
    )
    best = max(rows, key=lambda row: row.median)
    cells = [_cell(row, costs.get((row.case, row.access)), is_best=row is best) for row in rows]
    words = ["Median share of the shorter of I/O and computation. The framed cell is the highest.", caption(rows)]
    return Figure(title, " ".join(filter(None, words)), found.spec(cells, _TOOLTIP))


def _cell(row: Row, cost: Row | None, *, is_best: bool) -> Spec:
    """Make a cell; its shade is the share itself, so that all maps of a page can be compared."""
    share, size, measured = percent(row.median), format_bytes(size_of(row)), classify(row)
    return {
        "column": size,
        "line": str(depth_of(row)),
        "label": share,
        "position": round(row.median, 3),
        "best": is_best,
        "hollow": not measured.filled,
        "measured": measured.label,
        "what": f"{plural(depth_of(row), 'transfer')} of {size}",
        "text": share,
        "cost": DASH if cost is None else format_row(cost),
        "verdict": row.verdict,
        "flags": ", ".join(row.flag_codes) or DASH,
    }


SECTION: Final = storage_section(
    _SUITE,
    "I/O beside computation",
    "The overlap is the share of the shorter of I/O and computation that does not lengthen both together.",
    tables,
)
CHART: Final = storage_chart(
    "overlap",
    "Overlap of I/O with computation",
    "Each map has the sizes of transfers and how many are begun together. Darker is more overlap.",
    figures,
)


HEADLINE: Final = storage_rule(
    "{target}: {done} beside computation, {way}",
    "cores_of_rank",
    metric=SHARE,
    done={"write": "writes", "read": "reads"},
    words=lambda row: {"way": way_of(row)},
)
ANSWER: Final = AnswerRule(
    _SUITE,
    "How much of the I/O overlaps with computation, and what does that cost?",
    "overlap-share overlap-gain overlap-cost",
    "overlap-start",
    {"overlap-share": "overlap_share"},
)
