# SPDX-License-Identifier: Apache-2.0
"""The ceilings of targets, by direction: declared over detected over none. They belong to the device, not to a rank."""

from collections.abc import Iterable, Mapping
from typing import Final

from ullage.analysis.ceilings.declared import Access, drive_ceiling
from ullage.errors import UserError
from ullage.model.machine import MachineFile
from ullage.model.plan import Target
from ullage.model.summary import Ceiling
from ullage.model.system import Place, SystemFacts
from ullage.system.storage import PcieLink
from ullage.units import parse_rate

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
    place = _place(target, system)
    if place is None or place.device is None or place.device.link is None:
        return None
    link = PcieLink(place.device.link.transfers_per_s, place.device.link.lanes)
    return Ceiling(
        value=link.bytes_per_s, kind="detected", source=f"PCIe link of {place.device.link.device}: {link.text}"
    )


def _place(target: str, system: SystemFacts | None) -> Place | None:
    places = system.places if system is not None else []
    return next((place for place in places if place.target == target), None)
