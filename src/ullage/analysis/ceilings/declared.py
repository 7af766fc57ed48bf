# SPDX-License-Identifier: Apache-2.0
"""Ceilings of parts and targets: declared over detected over none. Pure.

A ceiling is that of the resources used: k cores, or a device whatever uses it.
"""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Final, Literal

from ullage.errors import UserError
from ullage.model.machine import DeclaredCpu, DeclaredDrive, DeclaredNetwork, MachineFile
from ullage.model.plan import Target
from ullage.model.summary import Ceiling
from ullage.model.system import SystemFacts
from ullage.system.storage import PcieLink
from ullage.units import parse_rate
from ullage.uri import target_path

Access = Literal["read", "write"]
# A memory channel is 64 bits wide, whatever it is split into (JEDEC DDR3 to DDR5).
CHANNEL_BYTES: Final = 8
_SOURCE: Final = "machine file"


def compute_ceiling(machine: MachineFile | None, kernel: str, threads: int) -> Ceiling | None:
    """Return the operations/s of ``kernel`` on as many cores as are used, or None where a factor is not declared.

    ``kernel``: as ``avx512/fp64/fma``, or a type, which stands for its best kernel. The ceiling is cores x clock x
    operations a cycle. More threads than cores do not raise it.
    """
    if machine is None or machine.cpu.hz is None or (per_cycle := _per_cycle(machine.cpu, kernel)) is None:
        return None
    cpu, hz = machine.cpu, machine.cpu.hz
    cores = threads if cpu.cores is None else min(threads, cpu.cores)
    text = f"{cores} core{'s' if cores > 1 else ''} x {hz / 1e9:g} GHz x {per_cycle:g} operations a cycle"
    return _declared(cores * hz * per_cycle, text)


def _per_cycle(cpu: DeclaredCpu, kernel: str) -> float | None:
    """Return the operations a cycle of ``kernel``, or None where they are not declared.

    A kernel that the table does not name takes the entry of its type; a type takes the largest of its kernels.
    """
    table = cpu.flops_per_cycle
    isa_type_operation = kernel.split("/")
    if kernel in table:
        return table[kernel]
    if len(isa_type_operation) > 1:
        return table.get(isa_type_operation[1])
    return max((value for name, value in table.items() if name.split("/")[1:2] == [kernel]), default=None)


def memory_ceiling(machine: MachineFile | None) -> Ceiling | None:
    """Return the bytes/s of all channels: as declared, else channels x transfers/s x 8 bytes; None without either."""
    if machine is None:
        return None
    memory = machine.memory
    if memory.bandwidth is not None:
        return _declared(memory.bandwidth, "memory bandwidth")
    if memory.channels is None or memory.transfers_per_s is None:
        return None
    text = f"{memory.channels} channels x {memory.transfers_per_s / 1e6:g} MT/s x {CHANNEL_BYTES} B"
    return _declared(memory.channels * memory.transfers_per_s * CHANNEL_BYTES, text)


def memory_latency(machine: MachineFile | None) -> Ceiling | None:
    """Return the seconds that a load from memory takes, or None where they are not declared.

    This bounds a time from below: 1 over the share is the factor that could be saved.
    """
    latency_s = None if machine is None else machine.memory.latency_s
    return None if latency_s is None else _declared(latency_s, "memory latency")


def drive_ceiling(machine: MachineFile | None, target: Target, access: Access) -> Ceiling | None:
    """Return the bytes/s of the device below ``target``, however many threads use it, or None."""
    drive = find_drive(machine, target)
    value = None if drive is None else {"read": drive.read, "write": drive.write}[access]
    return None if value is None else _declared(value, f"{access} of the drive below {target.name}")


def drive_operations_ceiling(machine: MachineFile | None, target: Target, access: Access) -> Ceiling | None:
    """Return the random operations/s of the device below ``target``, or None where they are not declared."""
    drive = find_drive(machine, target)
    value = None if drive is None else {"read": drive.read_iops, "write": drive.write_iops}[access]
    return None if value is None else _declared(value, f"random {access}s of the drive below {target.name}")


def find_drive(machine: MachineFile | None, target: Target) -> DeclaredDrive | None:
    """Return the drive declared for ``target``: by its name, else by the longest path that holds it; else None."""
    drives = [] if machine is None else machine.drive
    by_name = next((drive for drive in drives if drive.target == target.name), None)
    place = target_path(target)
    if by_name is not None or place is None:
        return by_name
    holding = [drive for drive in drives if drive.path is not None and place.is_relative_to(PurePath(drive.path))]
    return max(holding, key=lambda drive: len(PurePath(drive.path or "/").parts), default=None)


def find_network(machine: MachineFile | None, name: str) -> DeclaredNetwork | None:
    """Return the declared link called ``name``, or None."""
    links = [] if machine is None else machine.network
    return next((link for link in links if link.name == name), None)


def network_ceiling(machine: MachineFile | None, name: str) -> Ceiling | None:
    """Return the bytes/s of a link in one direction, or None where they are not declared."""
    link = find_network(machine, name)
    return None if link is None or link.rate is None else _declared(link.rate, f"rate of {name}")


def _declared(value: float, text: str) -> Ceiling:
    return Ceiling(value=value, kind="declared", source=f"{_SOURCE}: {text}")


ACCESSES: Final[tuple[Access, ...]] = ("write", "read")
CEILING_FORMS: Final = "write TARGET=RATE or TARGET:read=RATE, for example nvme:read=3.2GB/s"


def read_ceiling(text: str) -> tuple[str, float]:
    """Read ``TARGET`` or ``TARGET:ACCESS`` and bytes/s from a text as ``nvme:read=3.2GB/s``; raise UserError else."""
    place, separator, rate = text.rpartition("=")
    if not separator:
        raise UserError("not a ceiling of one of the targets", f"'{text}'", CEILING_FORMS)
    value = parse_rate(rate)
    if value <= 0:
        raise UserError("a ceiling must be above 0", f"'{text}'", CEILING_FORMS)
    return place, value


def unknown_ceiling(declared: Iterable[str], targets: Iterable[Target]) -> str | None:
    """Return the first of ``declared`` that names neither a target nor ``TARGET:ACCESS`` of one; None where all do."""
    names = {target.name for target in targets}
    known = {*names, *(f"{name}:{access}" for name in names for access in ACCESSES)}
    return next((place for place in declared if place not in known), None)


def ceilings_for(
    target: Target, system: SystemFacts | None, declared: Mapping[str, float], machine: MachineFile | None = None
) -> dict[str, Ceiling]:
    """Return the ceiling of each direction (``write``, ``read``) of ``target``; a direction without one is left out.

    ``declared`` holds bytes/s by ``TARGET`` or ``TARGET:ACCESS``, as ``read_ceiling`` makes it; the exact key wins,
    and either wins over the machine file.
    """
    detected = _detected(target.name, system)
    found: dict[str, Ceiling] = {}
    for access in ACCESSES:
        value = declared.get(f"{target.name}:{access}", declared.get(target.name))
        by_hand = None if value is None else Ceiling(value=value, kind="declared", source="--ceiling")
        ceiling = by_hand or drive_ceiling(machine, target, access) or detected
        if ceiling is not None:
            found[access] = ceiling
    return found


def _detected(target: str, system: SystemFacts | None) -> Ceiling | None:
    places = system.places if system is not None else []
    place = next((place for place in places if place.target == target), None)
    if place is None or place.device is None or place.device.link is None:
        return None
    found = place.device.link
    link = PcieLink(found.transfers_per_s, found.lanes, is_sata=found.kind == "sata")
    kind = "SATA" if link.is_sata else "PCIe"
    return Ceiling(value=link.bytes_per_s, kind="detected", source=f"{kind} link of {found.device}: {link.text}")
