# SPDX-License-Identifier: Apache-2.0
"""Rows as plain records with the whole identity of each: what CSV, Parquet and DataFrames hold. Pure."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ullage.analysis.settings import values_by_key
from ullage.identity import canonical_json
from ullage.model.plan import Scalar
from ullage.model.summary import Row, Summary
from ullage.report.contents import peer_ratio

Cell: TypeAlias = Scalar | Sequence[float] | Sequence[str] | None

_BEFORE: Final = ("id", "suite", "metric", "unit", "better", "target")
_AFTER: Final = (
    "case", "median", "low", "high", "bounds", "repetitions",
    "ceiling", "ceiling_kind", "ceiling_source", "share",
    "verdict", "reasons", "grade", "flags",
    "peer_tool", "peer_version", "peer_median", "peer_ratio",
)  # fmt: skip
COLUMNS: Final = (*_BEFORE, *_AFTER)
"""The columns that the rows of all suites have."""
LISTS: Final[Mapping[str, str]] = {"repetitions": "DOUBLE[]", "reasons": "VARCHAR[]", "flags": "VARCHAR[]"}
"""Columns of lists, with their types in SQL."""
NUMBERS: Final = frozenset({"median", "low", "high", "ceiling", "share", "peer_median", "peer_ratio"})
INTERVAL: Final = "interval"
RANGE: Final = "range"


def row_ids(summary: Summary) -> list[str]:
    """Return 16 hex digits for each row, which the same number of another run has too.

    They are of the SHA-256 of the canonical JSON of suite, metric, unit, target and parameters. Rows that are alike in
    all of these are told apart by ``-2``, ``-3`` in their order.
    """
    met: dict[str, int] = {}
    found: list[str] = []
    for row in summary.rows:
        content = [suite_of(summary, row), row.metric, row.unit, row.target, row.params]
        name = hashlib.sha256(canonical_json(content)).hexdigest()[:16]
        met[name] = met.get(name, 0) + 1
        found.append(name if met[name] == 1 else f"{name}-{met[name]}")
    return found


def suite_of(summary: Summary, row: Row) -> str:
    """Return the suite that made a row."""
    return row.suite or summary.suite


def columns_of(summary: Summary) -> list[str]:
    """Return the names of the columns, the same for each record; a parameter of a column's name is ``param_NAME``."""
    return [*_BEFORE, *(_column(key) for key in values_by_key(summary.rows)), *_AFTER]


def row_records(summary: Summary) -> Iterator[dict[str, Cell]]:
    """Yield each row with a value for each column, in plain SI numbers; None where it has none.

    ``bounds`` says what ``low`` and ``high`` are: a 95 % ``interval``, or the ``range`` of too few repetitions.
    """
    empty: dict[str, Cell] = dict.fromkeys(columns_of(summary))
    for name, row in zip(row_ids(summary), summary.rows, strict=True):
        params = {_column(key): value for key, value in row.params.items()}
        yield {**empty, "id": name, "suite": suite_of(summary, row), **params, **_values(row)}


def _column(key: str) -> str:
    return f"param_{key}" if key in _BEFORE or key in _AFTER else key


def _values(row: Row) -> dict[str, Cell]:
    same = ("metric", "unit", "better", "target", "case", "median", "low", "high", "repetitions", "share", "verdict")
    found: dict[str, Cell] = {name: getattr(row, name) for name in (*same, "reasons", "grade")}
    found["bounds"] = None if row.low is None else RANGE if row.has_range else INTERVAL
    found["flags"] = row.flag_codes
    if row.ceiling is not None:
        own = row.ceiling
        found |= {"ceiling": own.value, "ceiling_kind": own.kind, "ceiling_source": own.source}
    if row.peer is not None:
        peer = row.peer
        found |= {"peer_tool": peer.tool, "peer_version": peer.version, "peer_median": peer.median}
        found["peer_ratio"] = peer_ratio(row)
    return found
