# SPDX-License-Identifier: Apache-2.0
"""Rows in tables: their columns, and all of them in one table that the page searches, sorts and filters. Pure.

A few rows of that stand in the page as HTML, all as packed arrays.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Final, TypeVar, cast

from ullage.analysis.settings import access_of
from ullage.grouping import grouped
from ullage.model.summary import Row, Summary
from ullage.quantity import DASH, format_param, format_quantity, param_label, rounded
from ullage.report.contents import peer_ratio, to_csv_text
from ullage.report.data import ReportData
from ullage.report.grids import Column, interval_text, ratio_text, share_text, value_text
from ullage.report.row_records import Cell, columns_of, row_records
from ullage.report.scripts import packed
from ullage.report.tabs import TITLES, Parts
from ullage.report.texts import inert
from ullage.report.verdicts import classify, headword
from ullage.report.view import Panel, View

ItemT = TypeVar("ItemT")
_FEWEST: Final = 2
# For many rows, level 9 takes 2.6 times as long, and what it writes is 4 % shorter.
_LEVEL: Final = 7
_DIGITS: Final = 6


@lru_cache(maxsize=1 << 12)
def _rounded(value: float) -> float:
    """Round to six digits; most columns have few values."""
    return rounded(value, _DIGITS)


def compact_spec(spec: object) -> object:
    """Write data as ``{"columns": [...], "rows": [[...]]}`` instead of an object a row, six digits a number."""
    if isinstance(spec, list):
        return [compact_spec(item) for item in cast("list[object]", spec)]
    if isinstance(spec, float):
        return rounded(spec, _DIGITS)
    if not isinstance(spec, Mapping):
        return spec
    found = {key: compact_spec(value) for key, value in cast("Mapping[str, object]", spec).items()}
    values = found.get("values")
    return {**found, "values": _table(cast("list[object]", values))} if isinstance(values, list) else found


def _table(values: list[object]) -> object:
    """Pack rows that all have the same fields; others stay as they are, since a missing field is not an empty one."""
    if len(values) < _FEWEST or not all(isinstance(value, dict) for value in values):
        return values
    rows = cast("list[dict[str, Any]]", values)
    columns = list(rows[0])
    if any(list(row) != columns for row in rows):
        return values
    return {"columns": columns, "rows": [list(row.values()) for row in rows]}


def to_json(value: object) -> str:
    """Write JSON without blanks."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def chunks(rows: Sequence[ItemT], size: int) -> list[Sequence[ItemT]]:
    """Split ``rows`` into pieces of ``size``."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]


AT_ONCE: Final = 2000
"""The page unpacks this many rows when the table is first shown, and the others on demand."""
WITHOUT_SCRIPT: Final = 20
_MOST_COLUMNS_OF_SETTINGS: Final = 5
_OTHERS: Final = frozenset({"target", "access", "phase", "metric"})


@dataclass(frozen=True)
class RowTable:
    """The table of all rows on a page.

    ``first``: the texts of the rows that stand in the page itself. ``packs``: all rows, ``AT_ONCE`` each.

    A packed row is its texts, then the sort keys of the columns of numbers, then the class of its verdict, then the
    index of its reasons among those of its pack.
    """

    shown: Sequence[Column[Row]]
    first: Sequence[Sequence[str]]
    packs: Sequence[str]
    parts: Sequence[str]
    verdicts: Sequence[str]
    flags: Sequence[str]
    count: int


def row_table(data: ReportData, parts: Parts) -> RowTable:
    """Return the table, its rows in the order of the summary; in the page itself stand the strongest."""
    rows = data.summary.rows
    own = parts.of_rows(rows)
    part_of = {id(row): TITLES[part] for row, part in zip(rows, own, strict=True)}
    shown = [word_column("part", lambda row: part_of[id(row)]), *map(_of_page, _settings_in_one(columns(data.view)))]
    strongest = strongest_rows(data.view, WITHOUT_SCRIPT)
    return RowTable(
        shown,
        [[column.text(row) for column in shown] for row in strongest],
        [_pack(shown, some) for some in chunks(rows, AT_ONCE)],
        [title for part, title in TITLES.items() if part in set(own)],
        sorted({headword(row) for row in rows}),
        sorted({flag.kind for row in rows for flag in row.flags}),
        len(rows),
    )


def _of_page(column: Column[Row]) -> Column[Row]:
    """Return the column as the page shows it: what does not count says so in the place of its verdict."""
    if column.heading != "verdict":
        return column
    return word_column("verdict", lambda row: "INVALID" if headword(row) == "INVALID" else row.verdict)


def _settings_in_one(shown: list[Column[Row]]) -> list[Column[Row]]:
    """Join many columns of settings in one: with rows of many suites most of them are empty in most rows."""
    first = next(index for index, column in enumerate(shown) if column.heading == "median")
    settings = [column for column in shown[:first] if column.heading not in _OTHERS]
    if len(settings) <= _MOST_COLUMNS_OF_SETTINGS:
        return shown
    kept = [column for column in shown[:first] if column.heading in _OTHERS]
    known = {column.heading for column in settings}
    return [*kept, word_column("setting", lambda row: _setting(row, known)), *shown[first:]]


def _setting(row: Row, known: set[str]) -> str:
    pairs = [
        (param_label(key), format_param(key, value)) for key, value in row.params.items() if key not in HIDDEN_KEYS
    ]
    return ", ".join(f"{label} {value}" for label, value in pairs if label in known)


def _pack(shown: Sequence[Column[Row]], rows: Sequence[Row]) -> str:
    reasons: dict[str, int] = {"": 0}
    lines: list[list[object]] = []
    for row in rows:
        said = inert("; ".join(row.reasons))
        texts: list[object] = [inert(column.text(row)) for column in shown]
        keys = [_key(column, row) for column in shown if column.is_number]
        lines.append([*texts, *keys, classify(row).name, reasons.setdefault(said, len(reasons))])
    return packed(to_json({"rows": lines, "reasons": list(reasons)}), _LEVEL)


def _key(column: Column[Row], row: Row) -> float | None:
    value = column.number(row)
    return None if value is None else _rounded(value)


def strongest_rows(view: View, most: int) -> list[Row]:
    """Return at most ``most`` rows in their own order: of every panel an equal share, its best ones.

    Where there are more panels than that, the suites of the result take turns.
    """
    rows = view.summary.rows
    if len(rows) <= most:
        return list(rows)
    share = max(1, most // len(view.panels))
    kept: list[Row] = []
    of_suites = grouped((panel.suite, panel) for panel in view.panels).values()
    for panel in [panel for turn in zip_longest(*of_suites) for panel in turn if panel is not None]:
        ordered = sorted(panel.rows, key=lambda row: row.median, reverse=panel.better == "more")
        kept += ordered[:share]
    chosen = {id(row) for row in kept[:most]}
    return [row for row in rows if id(row) in chosen]


# -- columns of rows, for page, Markdown and terminal; and plain numbers for CSV ---------------------------------------

HIDDEN_KEYS: Final = frozenset({"access", "phase"})


def word_column(heading: str, text: Callable[[Row], str], css: str = "") -> Column[Row]:
    """Return a column of rows that holds no numbers."""
    return Column(heading, text, is_number=False, css=css)


def columns(view: View) -> list[Column[Row]]:
    """Return the columns of the complete table: parameters with one value for all rows are left out."""
    rows = view.summary.rows
    what = "phase" if view.of_phases else "access"
    found = [word_column("target", lambda row: row.target, "target"), word_column(what, access_of)]
    if len({row.metric for row in rows}) > 1:
        found.append(word_column("metric", lambda row: row.metric))
    keys = [key for key, values in view.values.items() if key not in HIDDEN_KEYS and len(values) > 1]
    found.extend(_param_column(key) for key in keys)
    found.extend(_value_columns(rows))
    return found + _peer_columns(rows)


def front_columns(view: View) -> list[Column[Row]]:
    """Return the columns of the best settings: every parameter that runs along an axis is named."""
    rows = view.summary.rows
    keys = [
        key
        for key, values in view.values.items()
        if key not in HIDDEN_KEYS and (len(values) > 1 or key in {"ranks", "block_bytes"})
    ]
    return [
        word_column("target", lambda row: row.target, "target"),
        word_column("access", access_of),
        *(_param_column(key) for key in keys),
        *_value_columns(rows),
        *_peer_columns(front_rows(view.swept)),
    ]


def front_rows(panels: Iterable[Panel]) -> list[Row]:
    """Return the best row of every panel that has a valid one."""
    return [panel.best for panel in panels if panel.best is not None]


def _param_column(key: str) -> Column[Row]:
    def text(row: Row) -> str:
        return format_param(key, row.params[key]) if key in row.params else DASH

    def number(row: Row) -> float | None:
        value = row.params.get(key)
        return float(value) if isinstance(value, (int, float)) else None

    return Column(param_label(key), text, number=number)


def _value_columns(rows: Sequence[Row]) -> list[Column[Row]]:
    shown: list[Column[Row]] = [
        Column("median", value_text, hint=_repetitions, css="median", number=lambda row: row.median),
        word_column("interval or range", interval_text, "interval"),
        Column("verdict", lambda row: row.verdict, is_number=False, hint=_reasons, dot=lambda row: classify(row).dot),
        word_column("grade", lambda row: row.grade or DASH),
        Column("of ceiling", share_text, number=lambda row: -1.0 if row.share is None else row.share),
        Column("n", lambda row: str(len(row.repetitions)), number=lambda row: len(row.repetitions)),
    ]
    flags = word_column("flags", lambda row: ", ".join(row.flag_codes), "flags")
    return [*shown, flags] if any(row.flags for row in rows) else shown


def _repetitions(row: Row) -> str:
    return f"Repetitions: {', '.join(format_quantity(value, row.unit) for value in row.repetitions[:20])}"


def _reasons(row: Row) -> str:
    return "; ".join(row.reasons)


def _peer_columns(rows: Sequence[Row]) -> list[Column[Row]]:
    """Return the columns on the peer; none where no peer has measured any of ``rows``."""
    if not any(row.peer for row in rows):
        return []
    return [
        Column("peer", _peer, css="peer", number=lambda row: row.peer.median if row.peer else None),
        Column("ratio to peer", ratio_text, number=peer_ratio),
    ]


def _peer(row: Row) -> str:
    return f"{format_quantity(row.peer.median, row.unit)} ({row.peer.tool} {row.peer.version})" if row.peer else DASH


def to_csv(summary: Summary) -> str:
    """Write all rows as CSV in plain SI numbers, one a line; lists are joined by ``;`` within their cell."""
    lines = ([_csv_cell(value) for value in record.values()] for record in row_records(summary))
    return to_csv_text([columns_of(summary), *lines])


def _csv_cell(value: Cell) -> object:
    if value is None or isinstance(value, (str, int, float)):
        return value
    return ";".join(one if isinstance(one, str) else repr(one) for one in value)
