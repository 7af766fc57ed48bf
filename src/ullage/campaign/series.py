# SPDX-License-Identifier: Apache-2.0
"""The numbers of a campaign in order of time: which of them changed, since when, and what else changed there.

Only sound rows are judged: undisturbed ones, of the target itself. Of several nodes a number is their median of a day.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from ullage.analysis.statistics.changes import Change, find_changes
from ullage.campaign.store import query
from ullage.errors import UserError
from ullage.quantity import change_within, format_quantity, plural

EACH: Final = "each"
"""Stands in the place of a node for each node by itself."""
ALL_NODES: Final = "median of the nodes"
_SAID: Final = ", ".join(f"any_value({name}) AS {name}" for name in ("part", "what", "unit", "better"))
_NODES: Final = f"""SELECT system, '{ALL_NODES}' AS node, id, {_SAID}, date_trunc('day', time) AS time, NULL AS low,
    NULL AS high, median(median) FILTER (WHERE sound) AS median, bool_or(sound) AS sound FROM ({{}}) GROUP BY ALL"""
_SERIES: Final = f"""SELECT system, node, id, {_SAID}, count(*) FILTER (WHERE NOT sound),
    list(low ORDER BY time) FILTER (WHERE sound), list(high ORDER BY time) FILTER (WHERE sound),
    list(time ORDER BY time) FILTER (WHERE sound), list(median ORDER BY time) FILTER (WHERE sound) FROM ({{}})
    GROUP BY ALL ORDER BY any_value(part) = '', system, id, node"""
_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_SHOWN: Final = 24


@dataclass(frozen=True)
class Selection:
    """What is asked of a campaign. ``what``: part, suite, metric or beginning of an id; empty: all."""

    campaign: Path
    what: str = ""
    node: str = ""
    since: str = ""

    def where(self) -> tuple[str, list[object]]:
        """Return the condition in SQL and its parameters."""
        found: dict[str, list[object]] = {"true": []}
        if self.what:
            found["(id ^@ ? OR ? IN (part, suite, metric))"] = [self.what] * 2
        if self.node not in ("", EACH):
            found["node = ?"] = [self.node]
        if self.since:
            try:
                start = datetime.fromisoformat(self.since)
            except ValueError as error:
                raise UserError("is no date", f"--since {self.since}", "write it as 2026-03-01") from error
            found["time >= ? AND month >= ?"] = [start, f"{start:%Y-%m}"]
        return " AND ".join(found), [one for own in found.values() for one in own]


@dataclass(frozen=True)
class Series:
    """A number of a node over time. ``unsound``: rows that are not judged; ``lows`` and ``highs``: of each value."""

    system: str
    node: str
    id: str
    part: str
    what: str
    unit: str
    better: str
    unsound: int
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    times: Sequence[datetime]
    values: Sequence[float]

    @property
    def title(self) -> str:
        """What it is, in words."""
        return f"{self.part}: {self.what}" if self.part else self.what

    @property
    def trend(self) -> str:
        """The last values as a line of blocks, from the least to the most of them."""
        shown = self.values[-_SHOWN:]
        least, most = min(shown), max(shown)
        return "".join(_BLOCKS[int(7.99 * (value - least) / ((most - least) or 1.0))] for value in shown)


def read_series(asked: Selection) -> list[Series]:
    """Return all series with a sound value; if nothing is asked for by name, those that stand for parts, if any do."""
    where, given = asked.where()

    def first(sql: str) -> bool:
        line = query(asked.campaign, f"SELECT {sql} FROM rows WHERE {where}", given, lambda found: found.fetchone())
        return bool(line and line[0])

    if not asked.what and first("bool_or(part <> '')"):
        where += " AND part <> ''"
    inner = f"SELECT * FROM rows WHERE {where}"
    if not asked.node and first("min(node) <> max(node)"):
        inner = _NODES.format(inner)
    found = query(asked.campaign, _SERIES.format(inner), given, lambda found: found.fetchall())
    return [Series(*line) for line in found if line[-1]]


def told_changes(campaign: Path, series: Sequence[Series]) -> list[tuple[Series, Change, str]]:
    """Return all changes with a sentence on each; at most 5 % of reports on stable series have any."""
    changes = find_changes([one.values for one in series])
    known: dict[object, str] = {}
    told: list[tuple[Series, Change, str]] = []
    for one, change in ((one, change) for one, own in zip(series, changes, strict=True) for change in own):
        times = one.times[change.at - 1 : change.at + 1]
        key = one.system, one.node, *times
        apart = known[key] if key in known else known.setdefault(key, _apart(campaign, one, times))
        told.append((one, change, _sentence(one, change, times[1], apart)))
    return told


def sentences(series: Sequence[Series], told: Sequence[tuple[Series, Change, str]]) -> list[str]:
    """Return a sentence on each change, or one that says why there is none."""
    if told:
        return [sentence for *_, sentence in told]
    if not series:
        return ["No row can be judged: each is disturbed, or not of the target itself."]
    return [f"No change can be told of {plural(len(series), 'number')} (95 % confidence)."]


def _apart(campaign: Path, one: Series, times: Sequence[datetime]) -> str:
    when = "date_trunc('day', time)" if one.node == ALL_NODES else "time"
    sql = f"""SELECT any_value(versions) FROM rows WHERE system = ? AND ? IN (node, '{ALL_NODES}') AND id = ?
        AND {when} IN (?, ?) GROUP BY {when} ORDER BY {when}"""
    found = query(campaign, sql, [one.system, one.node, one.id, *times], lambda found: found.fetchall())
    return "; ".join(differing(dict(found[0][0]), dict(found[-1][0])))


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return what has another value after than before, as ``kernel 6.8 -> 6.11``."""
    both = {name: (before.get(name, "none"), after.get(name, "none")) for name in {**before, **after}}
    return [f"{name} {one} -> {other}" for name, (one, other) in both.items() if one != other]


def _sentence(one: Series, change: Change, since: datetime, apart: str) -> str:
    word = "better" if (change.ratio > 1) == (one.better == "more") else "worse"
    by = change_within(change.ratio, change.low, change.high)
    told = f"{one.title}, {one.node}: {word} since {since:%Y-%m-%d}: {by}"
    return f"{told}{f' ({apart})' if apart else ''}, now {format_quantity(one.values[-1], one.unit)}."
