# SPDX-License-Identifier: Apache-2.0
"""The tables of a congestion run: impacts, and the times and rates behind them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final, cast

from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, value_hint, value_text
from ullage.report.quantity import DASH, format_quantity

SUITE: Final = "congestion"
IMPACTS: Final = ("congestion_impact", "congestion_impact_p99")
_MOST_NAMED: Final = 16


@dataclass(frozen=True)
class _Line:
    """A test under one load: its rows by metric and state, impacts without one."""

    load: str
    test: str
    rows: dict[tuple[str, str], Row] = field(default_factory=dict[tuple[str, str], Row])

    def of(self, metric: str, state: str = "") -> Row | None:
        return self.rows.get((metric, state))


def build(data: ReportData) -> Content | None:
    """None for other suites, and where nothing was measured."""
    rows = data.rows_of(SUITE)
    if not rows:
        return None
    lines: dict[tuple[str, str], _Line] = {}
    for row in rows:
        load, test = str(row.params["load"]), str(row.params["test"])
        line = lines.setdefault((load, test), _Line(load, test))
        line.rows[row.metric, str(row.params.get("state", ""))] = row
    found = list(lines.values())
    grids = [
        *grid_of("what the load does to the victims: congested / isolated", _IMPACT_COLUMNS, found),
        *grid_of("an exchange of the victims", _TIME_COLUMNS, found),
    ]
    return Content(notes=_notes(data, rows), grids=grids)


def _impact(heading: str, metric: str) -> Column[_Line]:
    return Column(heading, lambda line: value_text(line.of(metric)), hint=lambda line: value_hint(line.of(metric)))


def _time(heading: str, metric: str, state: str) -> Column[_Line]:
    return Column(
        heading, lambda line: value_text(line.of(metric, state)), hint=lambda line: value_hint(line.of(metric, state))
    )


_WHO: Final[tuple[Column[_Line], ...]] = (
    Column("load", lambda line: line.load, is_number=False),
    Column("test", lambda line: line.test, is_number=False),
)
_IMPACT_COLUMNS: Final = (*_WHO, _impact("mean", IMPACTS[0]), _impact("p99", IMPACTS[1]))
_TIME_COLUMNS: Final = (
    *_WHO,
    _time("mean, isolated", "congestion_time", "isolated"),
    _time("congested", "congestion_time", "congested"),
    _time("p99, isolated", "congestion_time_p99", "isolated"),
    _time("congested", "congestion_time_p99", "congested"),
    _time("a victim sends, isolated", "congestion_bandwidth", "isolated"),
    _time("congested", "congestion_bandwidth", "congested"),
)


def _notes(data: ReportData, rows: Sequence[Row]) -> list[str]:
    notes: list[str] = []
    if any("oversubscribed" in row.flags for row in rows):
        notes.append(
            "Oversubscribed: there were fewer cores than ranks, so the load took the victims' cores. These impacts say "
            "nothing of a network."
        )
    phases = [phase for row in rows for phase in data.phases_of(row)]
    notes += [*_who(rows, phases), *_traffic(data, rows)]
    if rows[0].params.get("nodes") == 1:
        notes.append("One node: the ranks share memory, not a network, and there is no ceiling to hold them against.")
    return notes


def _who(rows: Sequence[Row], phases: Sequence[PhaseRecord]) -> list[str]:
    found = next((phase.facts["victims"] for phase in phases if "victims" in phase.facts), None)
    count, ranks = int(rows[0].params["victims"]), int(rows[0].params["ranks"])
    named = ""
    victims = cast("list[object]", found) if isinstance(found, list) else []
    if 0 < len(victims) <= _MOST_NAMED:
        named = f" (ranks {', '.join(map(str, victims))})"
    return [f"{count} of {ranks} ranks are victims{named}; the other {ranks - count} load the network or rest."]


def _traffic(data: ReportData, rows: Sequence[Row]) -> list[str]:
    """What the load itself moved, as the median over the repetitions."""
    rates: dict[str, list[float]] = {}
    for row in rows:
        if row.metric == "congestion_time" and row.params.get("state") == "congested":
            rates.setdefault(str(row.params["load"]), []).extend(_rates(data.phases_of(row)))
    words = [f"{load} {format_quantity(median(found), 'B/s') if found else DASH}" for load, found in rates.items()]
    return [f"What the load itself moved: {', '.join(words)}."] if words else []


def _rates(phases: Sequence[PhaseRecord]) -> list[float]:
    return [
        phase.counters["load_bytes"] / took.most
        for phase in phases
        if (took := phase.gauges.get("load_s")) and took.most > 0 and "load_bytes" in phase.counters
    ]


SECTION: Final = Section(
    name="congestion",
    title="Congestion",
    doc="Victims exchange messages in random rings (latency: 8 B, bandwidth: 8 at once of 128 KiB) and add up 8 bytes, "
    "first alone, then while the others all send to one of them (incast) or each to each (alltoall). An impact of 1 is "
    "none; each is that of the same repetition.",
    order=7,
    build=build,
    suite=SUITE,
)
