# SPDX-License-Identifier: Apache-2.0
"""What bounds rows of drives: the device, by bytes or by operations, and never the threads. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from ullage.analysis.ceilings.declared import Access, drive_operations_ceiling
from ullage.analysis.ceilings.rows import beside_best, best_reached, is_of_device, with_ceiling
from ullage.grouping import grouped
from ullage.model.machine import MachineFile
from ullage.model.plan import Target
from ullage.model.summary import Ceiling, Row
from ullage.quantity import plural
from ullage.results.rows import threads_at_once
from ullage.units import format_bytes

_BYTES: Final = "bandwidth"
_OPERATIONS: Final = "operation_rate"
_ACCESSES: Final[Mapping[str, Access]] = {"read": "read", "write": "write"}


def with_ceilings(rows: Sequence[Row], targets: Sequence[Target], machine: MachineFile | None) -> list[Row]:
    """Return rows with their rates under ceilings, declared or detected, or else beside the best of this run.

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
    """Put ``row`` beside the best of the same direction and order, where its direction has no ceiling.

    Operations get a ceiling only where requests are small: with blocks they say nothing that bytes do not.
    """
    if row.ceiling is not None or row.metric not in (_BYTES, _OPERATIONS):
        return row
    if row.metric == _OPERATIONS and "queue_depth" not in row.params:
        return row
    same_way = [other for other in rows if _direction(other) == _direction(row)]
    if any(other.ceiling is not None for other in same_way):
        return row
    alike = [other for other in same_way if other.params.get("order") == row.params.get("order")]
    return beside_best(row, best_reached([other for other in alike if is_of_device(other)], _which))


def _direction(row: Row) -> tuple[str, str, object]:
    return row.target, row.metric, row.params.get("access")


def _which(row: Row) -> str:
    params = row.params
    depth = f", depth {params['queue_depth']}" if "queue_depth" in params else ""
    size = format_bytes(int(params.get("block_bytes", 0)))
    return f"{params.get('order', 'sequential')} {size} with {plural(threads_at_once(params), 'thread')}{depth}"


def with_common_ceilings(rows: Sequence[Row]) -> list[Row]:
    """Put ``rows`` of several suites beside the best that any of them reached, where nothing bounds a target.

    Only storage is compared: a file system in memory has the ceiling of no drive.
    """
    groups = grouped((key, row) for row in rows if (key := _drive_and_way(row)) is not None)
    # What bounds one order of a direction, as declared or detected, bounds the other.
    known = {
        key[:2]
        for key, group in groups.items()
        if any(row.ceiling and row.ceiling.kind != "empirical" for row in group)
    }
    ceilings = {key: best_reached(group, _which_of_suites) for key, group in groups.items() if key[:2] not in known}
    return [beside_best(row, ceilings[key]) if (key := _drive_and_way(row)) in ceilings else row for row in rows]


def _drive_and_way(row: Row) -> tuple[str, str, str] | None:
    """Return target, direction and order of a row of a storage device's bandwidth; None of any other row."""
    access = str(row.params.get("access", ""))
    if row.metric != _BYTES or access not in _ACCESSES or not is_of_device(row) or row.verdict.startswith("memory"):
        return None
    return row.target, access, str(row.params.get("order", "sequential"))


def _which_of_suites(row: Row) -> str:
    size = row.params.get("block_bytes")
    block = f" of {format_bytes(size)}" if isinstance(size, int) else ""
    threads = plural(int(row.params.get("ranks", 1)), "thread")
    return f"{row.suite}, {row.params.get('order', 'sequential')}{block} with {threads}"
