# SPDX-License-Identifier: Apache-2.0
"""Where nothing declared or detected bounds a target, the best that any part reached there bounds them all. Pure."""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.ceilings.rows import best_reached, is_of_device, with_ceiling
from ullage.model.summary import Row
from ullage.units import format_bytes

_METRIC: Final = "bandwidth"
_ACCESSES: Final = ("write", "read")
Key = tuple[str, str]


def with_common_ceilings(rows: Sequence[Row]) -> list[Row]:
    """``rows`` in their order. Storage only: a file system in memory has the ceiling of no drive."""
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        if (key := _key(row)) is not None:
            groups.setdefault(key, []).append(row)
    ceilings = {key: best_reached(group, _which) for key, group in groups.items()}
    known = {key for key, group in groups.items() if any(_is_known(row) for row in group)}
    bounded: list[Row] = []
    for row in rows:
        key = _key(row)
        is_open = key is not None and key not in known
        bounded.append(with_ceiling(row, ceilings.get(key)) if key is not None and is_open else row)
    return bounded


def _key(row: Row) -> Key | None:
    access = str(row.params.get("access", ""))
    if row.metric != _METRIC or access not in _ACCESSES or not is_of_device(row) or row.verdict.startswith("memory"):
        return None
    return row.target, access


def _is_known(row: Row) -> bool:
    return row.ceiling is not None and row.ceiling.kind != "empirical"


def _which(row: Row) -> str:
    size = row.params.get("block_bytes")
    block = f" of {format_bytes(size)}" if isinstance(size, int) else ""
    return f"{row.suite}, {row.params.get('order', 'sequential')}{block} with {row.params.get('ranks', 1)} threads"
