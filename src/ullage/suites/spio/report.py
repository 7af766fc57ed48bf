# SPDX-License-Identifier: Apache-2.0
"""What a report shows of suite ``spio``: rates of each operation by ranks, over one rank, and beside known peaks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import DASH, format_share, percent, rounded, scale_for, times
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure
from ullage.report.data import ReportData
from ullage.report.declared import columns, storage_chart, storage_section
from ullage.report.grids import Column, PhaseLine, grid_of, phase_lines
from ullage.report.headlines import storage_rule
from ullage.report.plots import COLORS, interval_point, layer, layered, nominal, quantity_axis
from ullage.report.vega import INK, MUTED, Spec, rank_axis, tooltip, verdict_shape
from ullage.report.verdicts import caption
from ullage.suites.spio.findings import CACHED, FASTEST, NOUNS, PUBLISHED, RATE, SLOWEST, SX8_SHARES, Line, lines_of
from ullage.suites.spio.suite import OPERATIONS
from ullage.units import format_bytes, format_rate, format_volume

_SUITE: Final = "spio"
_ORDER: Final[Sequence[str]] = OPERATIONS
# A peak further up than this would press the lines flat; the caption names it.
_HIGHEST_PEAK: Final = 3.0
_TOOLTIP: Final = tooltip("name=operation ranks text=median over=over_1_rank verdict flags")


@dataclass(frozen=True)
class _RateLine(PhaseLine):
    """All metrics of one operation with one number of ranks, and the rates of the operation by ranks."""

    by_ranks: Line

    @property
    def rate(self) -> Row:
        return self.rows[RATE]


def tables(data: ReportData) -> Content | None:
    """Return a table for each target, or None for other suites and where nothing was measured."""
    rows = data.rows_of(_SUITE)
    lines = _in_order(lines_of(rows))
    if not lines:
        return None
    # Phases of several cases have the same name, and a row is found by its case and phase.
    phases = {(line.first.case, line.first.access): line.rows for line in phase_lines(rows)}
    entries = [_RateLine(phases[row.case, row.access], line) for line in lines for row in line.rows]
    places = grouped(((one.rate.target, one.rate.params["backend"]), one) for one in entries)
    grids = [grid for (target, name), some in places.items() for grid in grid_of(f"{target}, {name}", _COLUMNS, some)]
    return Content(notes=_words(rows), grids=grids)


def _words(rows: Sequence[Row]) -> list[str]:
    """State the bytes that all files had together, the blocks, and what is compared with what."""
    sizes = {(row.count("volume_bytes"), row.count("block_bytes")) for row in rows}
    most, block = max(sizes)
    about = "" if len(sizes) == 1 else "at most "
    notes = [f"All files together have {about}{format_volume(most)}, in blocks of {format_bytes(block)}."]
    operations = {row.word("operation") for row in rows}
    if "neighbour" in operations:
        notes.append("Reads of neighbours' files are compared with one rank's read of its own file.")
    if any(row.params.get("data_of") == "other-rank" for row in rows):
        notes.append("Where all ranks were on one node, the neighbour of a rank is the next rank.")
    if "reread" in operations:
        notes.append("A reread that does not come from the storage has no share of the peak.")
    return [*notes, *([PUBLISHED] if any(row.share is not None for row in rows) else [])]


def _over_one(entry: _RateLine) -> str:
    base = entry.by_ranks.base
    return DASH if base is None else times(entry.rate.median / base.median)


_COLUMNS: Final[Sequence[Column[_RateLine]]] = columns(
    Column("operation", lambda entry: NOUNS[entry.rate.word("operation")], is_number=False),
    f"ranks {RATE}=rate {RATE}:interval",
    Column("over 1 rank", _over_one),
    Column("of the best", lambda entry: format_share(entry.by_ranks.share_of_best(entry.rate))),
    f"{RATE}:share=of_the_peak {FASTEST}=first_done {SLOWEST}=last_done sync_time=sync {CACHED}:percent=cached verdict",
)


def figures(data: ReportData) -> list[Figure]:
    """Return a figure for each place with several numbers of ranks: a line an operation, and peaks where known."""
    lines = _in_order(lines_of(data.rows_of(_SUITE)))
    places = grouped(((line.rows[0].target, line.rows[0].params["backend"]), line) for line in lines)
    return [
        _figure(f"{target}, {backend}", some)
        for (target, backend), some in places.items()
        if any(len(line.rows) > 1 for line in some)
    ]


def _in_order(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: _ORDER.index(line.rows[0].word("operation")))


def _figure(title: str, every: Sequence[Line]) -> Figure:
    # Memory is so fast that it would press all other lines flat.
    lines = [
        line
        for line in every
        if line.rows[0].word("operation") != "reread" or any(is_of_device(row) for row in line.rows)
    ] or every
    left_out = "" if len(lines) == len(every) else "Memory answered the rereads, which are in the table alone."
    rows = [row for line in lines for row in line.rows]
    scale = scale_for([row.median for row in rows], "B/s")
    ranks = sorted({*(row.ranks for row in rows)})
    names = [NOUNS[line.rows[0].word("operation")] for line in lines]
    legend: Spec = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 3, "labelLimit": 260}
    color = nominal("name", names, COLORS[: len(names)], legend)
    x = rank_axis(ranks, "ranks", "ranks")
    y = quantity_axis("y", f"rate ({scale.unit})")
    band = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "fill": color}
    points = {"x": x, "y": y, "stroke": color, "fill": color, **verdict_shape(), "tooltip": _TOOLTIP}
    drawn = [
        *_peak_layers(rows, ranks, scale.factor),
        layer({"type": "area", "fillOpacity": 0.14, "opacity": 1}, band, shown="datum.low !== null"),
        layer({"type": "line", "strokeWidth": 2}, {"x": x, "y": y, "stroke": color}),
        layer({"type": "point", "size": 46, "opacity": 1, "strokeWidth": 1.6}, points),
    ]
    values = [_point(line, row, scale.factor) for line in lines for row in line.rows]
    words = [_band_words(rows), caption(rows), *_peak_words(rows), left_out]
    return Figure(title, " ".join(filter(None, words)), layered(430, 270, drawn, values), wide=True)


def _band_words(rows: Iterable[Row]) -> str:
    if all(row.low is None for row in rows):
        return "One sample a point: no interval."
    return "Bands are the intervals of the medians, or the ranges of too few repetitions for one."


def _point(line: Line, row: Row, factor: float) -> Spec:
    over = DASH if line.base is None else times(row.median / line.base.median)
    place = {"name": NOUNS[row.word("operation")], "ranks": row.ranks}
    return interval_point(row, "y", factor, format_rate, place, over=over)


def _peaks(rows: Iterable[Row]) -> list[tuple[str, float]]:
    """Return the known peaks of the device by direction, once where both are equal."""
    known = {row.access: row.ceiling.value for row in rows if row.ceiling is not None}
    by_value = grouped((value, access) for access, value in known.items())
    return [(f"peak ({', '.join(accesses)})" if len(by_value) > 1 else "peak", v) for v, accesses in by_value.items()]


def _drawn_peaks(rows: Sequence[Row]) -> list[tuple[str, float]]:
    top = max(row.median for row in rows)
    return [(name, value) for name, value in _peaks(rows) if value <= _HIGHEST_PEAK * top]


def _peak_layers(rows: Sequence[Row], ranks: Sequence[int], factor: float) -> list[Spec]:
    """Draw each peak, and the shares of it that SX-8 reached, as dashed lines with their names."""
    peaks = _drawn_peaks(rows)
    if not peaks:
        return []
    known = [{"level": rounded(value / factor), "what": name, "ranks": ranks[0]} for name, value in peaks]
    published = [
        {"level": rounded(share * value / factor), "what": f"SX-8: {percent(share)} of {name}", "ranks": ranks[-1]}
        for name, value in peaks
        for share in SX8_SHARES
    ]
    at = {"y": {"field": "level", "type": "quantitative"}}
    place = {**at, "x": rank_axis(ranks, "ranks", "ranks"), "text": {"field": "what", "type": "nominal"}}
    text = {"type": "text", "baseline": "bottom", "dy": -2, "color": MUTED, "fontSize": 10}
    # The highest share stands just below the peak: at the other end their names do not meet.
    return [
        layer({"type": "rule", "strokeDash": [5, 4], "color": INK, "opacity": 0.6}, at, [*known, *published]),
        layer({**text, "align": "left"}, place, known),
        layer({**text, "align": "right"}, place, published),
    ]


def _peak_words(rows: Sequence[Row]) -> list[str]:
    drawn = [name for name, _ in _drawn_peaks(rows)]
    return [
        f"The {name} is {format_rate(value)}{'' if name in drawn else ', above the drawn range'}."
        for name, value in _peaks(rows)
    ]


SECTION: Final = storage_section(
    _SUITE,
    "Streams by ranks",
    "Each rank streams a file of its own. A rate is the bytes of all ranks over the time from the first open "
    "to the last close, with the sync of a write.",
    tables,
)
CHART: Final = storage_chart(
    _SUITE,
    "Rate of all streams by ranks",
    "All files together have the same size with every number of ranks. A shared target bounds their sum.",
    figures,
)


# The first screen has room for few words.
_DONE: Final = {"write": "own files written", "read": "own files read", "neighbour": "neighbours' files read"}


HEADLINE: Final = storage_rule("{target}: {done}, {ranks}", "volume_bytes", of="operation", done=_DONE, of_device=True)
ANSWER: Final = AnswerRule(
    _SUITE,
    "How does the rate of sequential streams grow with ranks?",
    "spio-growth spio-peak spio-neighbour",
    "spio-cached spio-unequal",
)
