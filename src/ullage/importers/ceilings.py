# SPDX-License-Identifier: Apache-2.0
"""Ceilings of imported rows, where what is declared of their system is given (``--machine``). Pure.

Memory and processors are those of the machine. A drive or link bounds the rows of the target that it names.
"""

from collections.abc import Sequence
from typing import Final

from ullage.analysis.ceilings.declared import (
    compute_ceiling,
    drive_ceiling,
    drive_operations_ceiling,
    memory_ceiling,
    network_ceiling,
)
from ullage.analysis.ceilings.rows import with_ceiling
from ullage.model.machine import MachineFile
from ullage.model.plan import Target
from ullage.model.summary import Ceiling, Row

_MESSAGES: Final = frozenset({"network_bandwidth", "ping_pong_bandwidth", "message_bandwidth"})
_MEMORY: Final = frozenset({"memory_bandwidth", "bus_bandwidth"})


def with_machine(rows: Sequence[Row], machine: MachineFile | None) -> list[Row]:
    """Return the rows under what ``machine`` declares, with their shares; as they are without it."""
    if machine is None:
        return list(rows)
    found = [(row, _ceiling(row, machine)) for row in rows]
    return [row if ceiling is None else with_ceiling(row, ceiling) for row, ceiling in found]


def _ceiling(row: Row, machine: MachineFile) -> Ceiling | None:
    if row.count("nodes", 1) > 1:
        return None
    if row.metric in _MEMORY and "device" not in row.params:
        return memory_ceiling(machine)
    if row.metric == "compute_rate" and row.word("type") == "fp64" and machine.cpu.cores:
        return compute_ceiling(machine, "fp64", machine.cpu.cores)
    if row.metric in _MESSAGES:
        return network_ceiling(machine, row.target)
    return _of_drive(row, machine)


def _of_drive(row: Row, machine: MachineFile) -> Ceiling | None:
    access = "write" if "write" in row.access else "read" if "read" in row.access else None
    target = Target(name=row.target, uri="null:")
    if access and row.metric == "bandwidth":
        return drive_ceiling(machine, target, access)
    if access and row.metric == "operation_rate" and row.word("order") == "random":
        return drive_operations_ceiling(machine, target, access)
    return None
