# SPDX-License-Identifier: Apache-2.0
"""What bounds each row of a disk run: the device, by bytes or by operations, and never the threads. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from ullage.analysis.ceilings.declared import Access, drive_operations_ceiling
from ullage.analysis.ceilings.rows import best_reached, is_of_device, with_ceiling
from ullage.model.machine import MachineFile
from ullage.model.plan import Target
from ullage.model.summary import Ceiling, Row
from ullage.results.rows import threads_at_once
from ullage.units import format_bytes

_BYTES: Final = "bandwidth"
_OPERATIONS: Final = "operation_rate"
_ACCESSES: Final[Mapping[str, Access]] = {"read": "read", "write": "write"}


def with_ceilings(rows: Sequence[Row], targets: Sequence[Target], machine: MachineFile | None) -> list[Row]:
    """Rows of rates under their ceilings: declared and detected ones first, the best of this run where none is known.

    Random blocks are bounded by bytes and by operations x block, whichever is less (specs: roof rule).
    """
    by_name = {target.name: target for target in targets}
    bounded = [_by_device(row, by_name.get(row.target), machine) for row in rows]
    return [_by_best(row, bounded) for row in bounded]


def _by_device(row: Row, target: Target | None, machine: MachineFile | None) -> Row:
    access = _ACCESSES.get(str(row.params.get("access", "")))
    if target is None or access is None or row.params.get("order") != "random":
        return row
    operations = drive_operations_ceiling(machine, target, access)
    block = int(row.params.get("block_bytes", 0))
    if operations is None or not block:
        return row
    if row.metric == _OPERATIONS:
        return with_ceiling(row, operations)
    if row.metric == _BYTES:
        by_operations = Ceiling(
            value=operations.value * block, kind="declared", source=f"{operations.source} x {format_bytes(block)}"
        )
        known = [by_operations, *([row.ceiling] if row.ceiling is not None else [])]
        return with_ceiling(row, min(known, key=lambda ceiling: ceiling.value))
    return row


def _by_best(row: Row, rows: Sequence[Row]) -> Row:
    """Operations get a ceiling only where requests are small: with blocks they say nothing that bytes do not."""
    if row.ceiling is not None or row.metric not in (_BYTES, _OPERATIONS):
        return row
    if row.metric == _OPERATIONS and "queue_depth" not in row.params:
        return row
    access = row.params.get("access")
    alike = [
        other
        for other in rows
        if (other.target, other.metric, other.params.get("access")) == (row.target, row.metric, access)
    ]
    if any(other.ceiling is not None for other in alike):
        return row
    return with_ceiling(row, best_reached([other for other in alike if is_of_device(other)], _which))


def _which(row: Row) -> str:
    params = row.params
    depth = f", depth {params['queue_depth']}" if "queue_depth" in params else ""
    size = format_bytes(int(params.get("block_bytes", 0)))
    return f"{params.get('order', 'sequential')} {size} with {threads_at_once(params)} threads{depth}"
