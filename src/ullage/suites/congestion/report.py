# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a congestion run: impacts, the times behind them, and the victims' exchanges as curves."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Final, TypeAlias

from ullage.grouping import grouped, nested
from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.quantity import DASH, format_quantity, format_row, percent, rounded
from ullage.reading import children
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport
from ullage.report.grids import Column, grid_of, value_column
from ullage.report.phases import bucket_midpoint_ns
from ullage.report.plots import bar_layer, bar_names, layered, log_axis, nominal, plot
from ullage.report.switches import switch_notes
from ullage.report.vega import INK, Spec, ordered_colors, ordinal, time_axis, tooltip

SUITE: Final = "congestion"
IMPACTS: Final = ("congestion_impact", "congestion_impact_p99")
_MOST_NAMED: Final = 16


_Line: TypeAlias = tuple[tuple[str, str], Mapping[tuple[str, str], Row]]
"""Load and test, and the rows by metric and state; impacts have none."""


def tables(data: ReportData) -> Content | None:
    """Return the tables, or None for other suites and where nothing was measured."""
    rows = data.rows_of(SUITE)
    if not rows:
        return None
    lines = nested((_test_of(row), (row.metric, row.word("state")), row) for row in rows)
    grids = [
        *grid_of("what the load does to the victims: congested / isolated", _IMPACT_COLUMNS, list(lines.items())),
        *grid_of("an exchange of the victims", _TIME_COLUMNS, list(lines.items())),
    ]
    return Content(notes=[*switch_notes(data, SUITE), *_notes(data, rows)], grids=grids)


def _test_of(row: Row) -> tuple[str, str]:
    return row.word("load"), row.word("test")


def _columns(*named: tuple[str, str, str]) -> tuple[Column[_Line], ...]:
    def value(heading: str, *place: str) -> Column[_Line]:
        return value_column(heading, lambda line: line[1].get((place[0], place[1])))

    load = Column[_Line]("load", lambda line: line[0][0], is_number=False)
    return load, Column("test", lambda line: line[0][1], is_number=False), *(value(*one) for one in named)


_IMPACT_COLUMNS: Final = _columns(("mean", IMPACTS[0], ""), ("p99", IMPACTS[1], ""))
_TIME_COLUMNS: Final = _columns(
    ("mean, isolated", "congestion_time", "isolated"),
    ("congested", "congestion_time", "congested"),
    ("p99, isolated", "congestion_time_p99", "isolated"),
    ("congested", "congestion_time_p99", "congested"),
    ("a victim sends, isolated", "congestion_bandwidth", "isolated"),
    ("congested", "congestion_bandwidth", "congested"),
)


def _notes(data: ReportData, rows: Sequence[Row]) -> list[str]:
    notes: list[str] = []
    if any(row.has_flag(OVERSUBSCRIBED) for row in rows):
        notes.append(
            "There were fewer cores than ranks, so the load used the victims' cores. These impacts say "
            "nothing about a network."
        )
    phases = [phase for row in rows for phase in data.phases_of(row)]
    notes += [_who(rows, phases), *_traffic(data, rows)]
    if rows[0].params.get("nodes") == 1:
        notes.append("The ranks of one node share memory and use no network. No ceiling is known.")
    return notes


def _who(rows: Sequence[Row], phases: Sequence[PhaseRecord]) -> str:
    victims = next((found for phase in phases if (found := children(phase.facts, "victims"))), ())
    named = f" (ranks {', '.join(map(str, victims))})" if 0 < len(victims) <= _MOST_NAMED else ""
    count, ranks = rows[0].count("victims"), rows[0].ranks
    return f"{count} of {ranks} ranks are victims{named}. The other {ranks - count} load the network or idle."


def _traffic(data: ReportData, rows: Sequence[Row]) -> list[str]:
    """State what each load itself moved: the median rate over the repetitions."""
    congested = (row for row in rows if row.metric == "congestion_time" and row.params.get("state") == "congested")
    loads = grouped((row.word("load"), row) for row in congested)
    words: list[str] = []
    for load, some in loads.items():
        rates = [
            phase.counters["load_bytes"] / took.most
            for row in some
            for phase in data.phases_of(row)
            if (took := phase.gauges.get("load_s")) and took.most > 0 and "load_bytes" in phase.counters
        ]
        words.append(f"{format_quantity(median(rates), 'B/s') if rates else DASH} ({load})")
    return [f"The load itself moved {', '.join(words)}."] if words else []


_NAMES: Final = ("mean", "p99")
_STATES: Final = ("isolated", "congested")
_STATE_COLORS: Final = ("#1f5f8b", "#d9742b")
_NS: Final = 1e9
# Shares of the exchanges that took longer: one point is drawn where the share falls below each of these.
_SHARES: Final = tuple(10 ** (-step / 8) for step in range(41))


def figures(data: ReportData) -> list[Figure]:
    """Draw bars of all loads, then a figure for each load and test."""
    rows = data.rows_of(SUITE)
    impacts = [row for row in rows if row.metric in IMPACTS and row.median > 0]
    return [*([_bars(impacts)] if impacts else []), *_tails(data, rows)]


def _bars(rows: Sequence[Row]) -> Figure:
    values: list[Spec] = [
        {
            "name": f"{row.params['test']}, {row.params['load']}",
            "what": _NAMES[IMPACTS.index(row.metric)],
            "y": rounded(row.median),
            "floor": 1.0,
            "text": format_row(row),
            "flags": ", ".join(row.flag_codes),
        }
        for row in rows
    ]
    found = [1.0, *(row.median for row in rows)]
    x = log_axis("y", (min(found) / 1.15, max(found) * 1.15), "congested / isolated")
    place = {
        "y": bar_names(list(dict.fromkeys(value["name"] for value in values)), 220),
        "yOffset": {"field": "what", "type": "ordinal", "sort": list(_NAMES)},
    }
    colors = {"domain": list(_NAMES), "range": ordered_colors(len(_NAMES))}
    color = ordinal("what", _NAMES, "", scale=colors, legend={"orient": "top", "title": None})
    rule: Spec = {"x": {"datum": 1.0, "type": "quantitative", "scale": x["scale"]}}
    layers: list[Spec] = [
        {"data": {"values": values}, **bar_layer(place, x, color, tooltip("name=test what=of text=impact flags"))},
        {"data": {"values": [{}]}, "mark": {"type": "rule", "color": INK}, "encoding": rule},
    ]
    caption = "Bars begin at 1, where the load changes nothing. The axis is logarithmic."
    return Figure("impact", caption, layered(410, {"step": 14}, layers), wide=True)


def _tails(data: ReportData, rows: Iterable[Row]) -> list[Figure]:
    times = (row for row in rows if row.metric == "congestion_time")
    pairs = nested((_test_of(row), row.word("state"), data.phases_of(row)) for row in times)
    return [
        Figure(f"{test} under {load}", "Over all victims and repetitions.", spec)
        for (load, test), by_state in pairs.items()
        if (spec := _tail_spec(by_state)) is not None
    ]


def _tail_spec(by_state: dict[str, list[PhaseRecord]]) -> Spec | None:
    values = [value for state in _STATES for value in _tail(state, by_state.get(state, []))]
    if not values:
        return None
    x = time_axis([value["x"] for value in values], "x", "time of an exchange")
    lowest = min(value["y"] for value in values)
    y = log_axis("y", (lowest / 1.3, 1.0), "share that take longer")
    color = nominal("state", _STATES, _STATE_COLORS, {"title": None, "orient": "top"})
    mark = {"type": "line", "strokeWidth": 2, "interpolate": "step-after", "point": {"size": 16, "filled": True}}
    encoding = {"x": x, "y": y, "color": color, "tooltip": tooltip("state=the_others text=time share=take_longer")}
    return plot(300, 190, values, mark, encoding)


def _tail(state: str, phases: Iterable[PhaseRecord]) -> list[Spec]:
    """Return the points of the complementary distribution, at most one for each of the shares."""
    counts: Counter[int] = Counter()
    for phase in phases:
        for index, count in () if phase.latency is None else phase.latency.buckets:
            counts[index] += count
    values: list[Spec] = []
    total = left = sum(counts.values())
    ahead = list(_SHARES)
    for index, count in sorted(counts.items()):
        share, seconds = left / total, bucket_midpoint_ns(index) / _NS
        if ahead and share <= ahead[0]:
            place = {"state": state, "x": max(seconds, 1 / _NS), "y": rounded(share, 4)}
            values.append({**place, "text": format_quantity(seconds, "s"), "share": percent(share, 2)})
            ahead = [one for one in ahead if share > one]
        left -= count
    return values


_REPORT: Final = PartOfReport(SUITE, "network", 7)
SECTION: Final = _REPORT.section(
    "Congestion",
    "Victims exchange messages in random rings (latency: 8 B, bandwidth: 8 at once of 128 KiB) and add up 8 "
    "bytes. They do so first alone, then while the others all send to one of them (incast) or each to each "
    "(alltoall). An impact is the time with load over the time without, in the same repetition. 1 means no impact.",
    tables,
)
CHART: Final = _REPORT.chart(
    "congestion",
    "Congestion",
    "The further the second curve lies to the right of the first, the more the load costs. Where the"
    " curves differ only at the bottom, the load delays a few messages much.",
    figures,
)


ANSWER: Final = AnswerRule(
    "congestion",
    "How much slower do messages get when others fill the network?",
    "congestion",
    remarks="oversubscribed",
)
