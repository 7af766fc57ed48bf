# SPDX-License-Identifier: Apache-2.0
"""Rows as tables: one set of columns for HTML, Markdown and terminal, and one of plain numbers for CSV."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.settings import access_of, values_by_key
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.quantity import (
    DASH,
    format_interval,
    format_param,
    format_quantity,
    format_share,
    param_label,
    scale_for,
    significant,
)
from ullage.report.view import Panel, View

# A spreadsheet reads a cell that begins like this as a formula, and passes over blanks before it.
_FORMULA: Final = re.compile(r"\s*[=+\-@]|[\t\r]")
_NUMBERS: Final = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?(;-?\d+(\.\d*)?(e[+-]?\d+)?)*", re.IGNORECASE)


def to_csv_text(lines: Iterable[Sequence[object]]) -> str:
    """Write ``lines`` as CSV.

    A text that a spreadsheet would execute gets an apostrophe in front of it, which it does not show. Numbers, and
    lists of numbers joined by ``;``, stay as they are, negative ones too.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_harmless(cell) for cell in line] for line in lines)
    return text.getvalue()


def _harmless(cell: object) -> object:
    if not isinstance(cell, str) or cell[:1].isalnum():
        return cell
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBERS.fullmatch(cell) else cell


HIDDEN_KEYS: Final = frozenset({"access", "phase"})


@dataclass(frozen=True)
class Cell:
    """One cell of a table. ``css``, ``sort``, ``hint``, ``dot`` and ``bar`` (0 to 1) are for the page alone."""

    text: str
    css: str = ""
    sort: str = ""
    hint: str = ""
    dot: str = ""
    bar: float | None = None


def number_cell(text: str, *, css: str = "", sort: str = "", hint: str = "", bar: float | None = None) -> Cell:
    """Return a cell of a column of numbers."""
    return Cell(text, f"num {css}".strip(), sort, hint, bar=bar)


@dataclass(frozen=True)
class Column:
    """A column of the table of all rows.

    ``text`` is what is shown; ``number``, where a column has one, is what it is sorted by.
    """

    heading: str
    text: Callable[[Row], str]
    number: Callable[[Row], float | None] | None = None

    @property
    def is_number(self) -> bool:
        """Whether the column is aligned and sorted as numbers."""
        return self.number is not None

    def sort_value(self, row: Row) -> str:
        """Return the number in full, or the text where there is none."""
        value = self.number(row) if self.number is not None else None
        return self.text(row) if value is None else repr(float(value))


def columns(view: View) -> list[Column]:
    """Return the columns of the complete table: parameters with one value for all rows are left out."""
    rows = view.summary.rows
    what = "phase" if view.of_phases else "access"
    found = [Column("target", lambda row: row.target), Column(what, access_of)]
    if len({row.metric for row in rows}) > 1:
        found.append(Column("metric", lambda row: row.metric))
    keys = [key for key, values in view.values.items() if key not in HIDDEN_KEYS and len(values) > 1]
    found.extend(_param_column(key) for key in keys)
    found.extend(_value_columns(rows))
    return found + _peer_columns(rows)


def front_columns(view: View) -> list[Column]:
    """Return the columns of the best settings: every parameter that runs along an axis is named."""
    rows = view.summary.rows
    keys = [
        key
        for key, values in view.values.items()
        if key not in HIDDEN_KEYS and (len(values) > 1 or key in {"ranks", "block_bytes"})
    ]
    return [
        Column("target", lambda row: row.target),
        Column("access", access_of),
        *(_param_column(key) for key in keys),
        *_value_columns(rows),
        *_peer_columns(front_rows(view.swept)),
    ]


def front_rows(panels: Iterable[Panel]) -> list[Row]:
    """Return the best row of every panel that has a valid one."""
    return [panel.best for panel in panels if panel.best is not None]


def _param_column(key: str) -> Column:
    def text(row: Row) -> str:
        return format_param(key, row.params[key]) if key in row.params else DASH

    return Column(param_label(key), text, lambda row: _as_number(row.params.get(key)))


def _as_number(value: Scalar | None) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _value_columns(rows: Sequence[Row]) -> list[Column]:
    flags = [Column("flags", lambda row: ", ".join(row.flag_codes))] if any(row.flags for row in rows) else []
    return [
        Column("median", lambda row: format_quantity(row.median, row.unit), lambda row: row.median),
        Column("interval", lambda row: format_interval(row.low, row.high, scale_for([row.median], row.unit)) or DASH),
        Column("verdict", lambda row: row.verdict),
        Column("grade", lambda row: row.grade or DASH),
        Column("of ceiling", lambda row: format_share(row.share), lambda row: -1.0 if row.share is None else row.share),
        Column("n", lambda row: str(len(row.repetitions)), lambda row: len(row.repetitions)),
        *flags,
    ]


def _peer_columns(rows: Sequence[Row]) -> list[Column]:
    """Return the columns on the peer; none where no peer has measured any of ``rows``."""
    if not any(row.peer for row in rows):
        return []
    return [
        Column("peer", _peer, lambda row: row.peer.median if row.peer else None),
        Column("ratio to peer", _peer_ratio_text, peer_ratio),
    ]


def peer_ratio(row: Row) -> float | None:
    """Return our median over the peer's, whatever direction is better; None without a peer or where that is 0."""
    return row.median / row.peer.median if row.peer and row.peer.median else None


def _peer_ratio_text(row: Row) -> str:
    ratio = peer_ratio(row)
    return DASH if ratio is None else significant(ratio)


def _peer(row: Row) -> str:
    return f"{format_quantity(row.peer.median, row.unit)} ({row.peer.tool} {row.peer.version})" if row.peer else DASH


def to_csv(rows: Sequence[Row]) -> str:
    """Write all rows as CSV in plain SI numbers, one a line; lists are joined by ``;`` within their cell."""
    keys = list(values_by_key(rows))
    head = ["metric", "unit", "better", "target", *keys, "case", "median", "low", "high", "repetitions"]
    head += ["ceiling", "ceiling_kind", "ceiling_source", "share", "verdict", "reasons", "grade", "flags"]
    head += ["peer_tool", "peer_version", "peer_median", "peer_ratio"]
    return to_csv_text([head, *(_csv_cells(row, keys) for row in rows)])


def _csv_cells(row: Row, keys: Sequence[str]) -> list[object]:
    ceiling, peer = row.ceiling, row.peer
    return [
        *(row.metric, row.unit, row.better, row.target),
        *(row.params.get(key, "") for key in keys),
        *(row.case, row.median, row.low, row.high, ";".join(map(repr, row.repetitions))),
        *((ceiling.value, ceiling.kind, ceiling.source) if ceiling else ("", "", "")),
        *(row.share, row.verdict, ";".join(row.reasons), row.grade, ";".join(row.flag_codes)),
        *((peer.tool, peer.version, peer.median, peer_ratio(row)) if peer else ("", "", "", "")),
    ]
