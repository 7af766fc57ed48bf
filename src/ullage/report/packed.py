# SPDX-License-Identifier: Apache-2.0
"""Data of the page in little room: tables as columns and rows, and what is read on demand compressed. Pure.

Browsers unpack it with ``DecompressionStream("deflate")``, which needs no library and works on a page in a file.
"""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar, cast

ItemT = TypeVar("ItemT")
_DIGITS: Final = 6
_FEWEST: Final = 2


def packed(text: str) -> str:
    """``text``, deflated, as letters that are safe within a script element."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


packed_once = cache(packed)
"""As ``packed``, for texts that every page has."""


def compact_spec(spec: object) -> object:
    """A chart whose data is ``{"columns": [...], "rows": [[...]]}`` instead of an object a row, six digits a number."""
    if isinstance(spec, list):
        return [compact_spec(item) for item in cast("list[object]", spec)]
    if isinstance(spec, float):
        return float(f"{spec:.{_DIGITS}g}")
    if not isinstance(spec, Mapping):
        return spec
    found = {key: compact_spec(value) for key, value in cast("Mapping[str, object]", spec).items()}
    values = found.get("values")
    return {**found, "values": _table(cast("list[object]", values))} if isinstance(values, list) else found


def _table(values: list[object]) -> object:
    """Rows that all have the same fields; others stay as they are, since a missing field is not an empty one."""
    if len(values) < _FEWEST or not all(isinstance(value, dict) for value in values):
        return values
    rows = cast("list[dict[str, Any]]", values)
    columns = list(rows[0])
    if any(list(row) != columns for row in rows):
        return values
    return {"columns": columns, "rows": [list(row.values()) for row in rows]}


def to_json(value: object) -> str:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def chunks(rows: Sequence[ItemT], size: int) -> list[Sequence[ItemT]]:
    """``rows`` in pieces of ``size``."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]
