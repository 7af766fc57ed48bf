# SPDX-License-Identifier: Apache-2.0
"""What a report shows of suite ``checkpoint``: how long training waits in each layout, and what the ranks reached."""

from collections.abc import Sequence
from typing import Final

from ullage.grouping import grouped
from ullage.model.summary import Row
from ullage.quantity import DASH, plural, scale_for
from ullage.report.answers import AnswerRule
from ullage.report.contents import Figure
from ullage.report.data import ReportData
from ullage.report.declared import Table, columns, storage_chart, storage_section, tables_of
from ullage.report.grids import Column, PhaseLine
from ullage.report.headlines import storage_rule
from ullage.report.plots import COLORS, bar_names, interval_point, layer, layered, nominal, quantity_axis
from ullage.report.vega import INK, Spec, tooltip, verdict_shape
from ullage.report.verdicts import caption
from ullage.suites.checkpoint.findings import LEAST_RATE, RATE, RESTORE, SAVE, WAIT, files_of, order_of
from ullage.units import format_time, format_volume

_SUITE: Final = "checkpoint"
_DONE: Final = {SAVE: "saved", RESTORE: "read back"}
_READERS: Final = {"own": "the same rank", "other-rank": "another rank", "other-node": "another node"}
_TOOLTIP: Final = tooltip("operation layout ranks text=median verdict flags")


def _notes(rows: Sequence[Row]) -> list[str]:
    sizes = sorted({row.count("volume_bytes") for row in rows})
    first = rows[0].params
    scale = float(first.get("scale", 1.0))
    size = " to ".join(format_volume(size) for size in dict.fromkeys((sizes[0], sizes[-1])))
    shared = "all ranks share" if first["mode"] == "whole" else "each rank has the part of a rank of the published run"
    part = "size" if first["mode"] == "whole" else "part of these ranks"
    notes = [f"The checkpoint of model {first['model']} has {size}, {100 * scale:g} % of the published {part}. Mode "]
    notes[0] += f"{first['mode']}: {shared}{' it' if first['mode'] == 'whole' else ''}."
    readers = {row.word("data_of") for row in rows if "data_of" in row.params}
    if readers & {"own", "other-rank"}:
        notes.append("Nodes read back what they have saved themselves. The verdict says what a cache answered.")
    return notes


def _reader(line: PhaseLine) -> str:
    whose = str(line.first.params.get("data_of", DASH))
    return _READERS.get(whose, whose)


tables: Final = tables_of(
    _SUITE,
    [
        Table(
            columns(
                "layout backend ranks files rank_bytes:volume=a_rank block_bytes:bytes=a_call",
                f"{WAIT}=training_waits {WAIT}:interval fastest_rank_time=fastest_rank slowest_rank_time=slowest_rank",
                f"{LEAST_RATE}=least_rate_of_a_rank {RATE}=rate_of_all {RATE}:share sync_time=sync",
                Column("written by", _reader, is_number=False),
                "verdict",
            ),
            lambda row: f"{row.target}: {_DONE[row.word('operation')]}",
        )
    ],
    order_of,
    _notes,
    only=lambda line: WAIT in line.rows,
)


def figures(data: ReportData) -> list[Figure]:
    """Return a figure for each target and number of ranks: a bar for each operation and layout."""
    rows = sorted((row for row in data.rows_of(_SUITE) if row.metric == WAIT), key=order_of)
    places = grouped(((row.target, row.word("backend"), row.ranks), row) for row in rows)
    return [
        _figure(
            f"{target}, {backend}, {plural(ranks, 'rank')}", sorted(some, key=lambda row: row.word("operation") != SAVE)
        )
        for (target, backend, ranks), some in places.items()
    ]


def _name(row: Row) -> str:
    return f"{_DONE[row.word('operation')]}, {row.word('layout')}"


def _figure(title: str, rows: Sequence[Row]) -> Figure:
    scale = scale_for([row.median for row in rows], "s")
    color = nominal("operation", list(_DONE.values()), COLORS[:2], None)
    y = bar_names([_name(row) for row in rows], 200)
    x = quantity_axis("x", f"time that training waits ({scale.unit})")
    point = {"type": "point", "size": 46, "opacity": 1, "strokeWidth": 1.6}
    layers = [
        layer({"type": "bar", "height": 14, "fillOpacity": 0.75}, {"y": y, "x": x, "color": color}),
        layer(
            {"type": "rule", "color": INK}, {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}}, None, _HAS
        ),
        layer(point, {"y": y, "x": x, "stroke": color, "fill": color, **verdict_shape(), "tooltip": _TOOLTIP}),
    ]
    words = ["Lines are the intervals of the medians." if any(row.low is not None for row in rows) else _SINGLE]
    values = [_point(row, scale.factor) for row in rows]
    return Figure(title, " ".join(filter(None, [*words, caption(rows)])), layered(430, {"step": 26}, layers, values))


_HAS: Final = "datum.low !== null"
_SINGLE: Final = "One sample a bar: no interval."


def _point(row: Row, factor: float) -> Spec:
    place = {"name": _name(row), "operation": _DONE[row.word("operation")], "layout": row.word("layout")}
    return interval_point(row, "x", factor, format_time, {**place, "ranks": row.ranks})


SECTION: Final = storage_section(
    _SUITE,
    "Checkpoints of a model",
    "Training waits from the first rank's open to the last rank's close, with the sync of every file. The "
    "least rate of a rank is that of the slowest one.",
    tables,
)
CHART: Final = storage_chart(
    "checkpoint",
    "Time that training waits for a checkpoint",
    "A bar ends at the median of the time until the slowest rank is done.",
    figures,
)


# A rate has a share of the ceiling that is known; training waits for the time.
HEADLINES: Final = tuple(
    storage_rule(
        what,
        "rank_bytes",
        metric=metric,
        of="operation",
        done=done,
        of_device=True,
        words=lambda row: {"files": files_of(row)},
    )
    for metric, what, done in (
        (RATE, "{target}: checkpoint {done}, {files}", _DONE),
        (WAIT, "{target}: time to {done}, {files}", {SAVE: "save a checkpoint", RESTORE: "read a checkpoint back"}),
    )
)
ANSWER: Final = AnswerRule(
    _SUITE,
    "How long does training wait for a checkpoint?",
    "checkpoint-wait checkpoint-layout",
    "checkpoint-cached",
    {"checkpoint-wait": "-wait_s"},
)
