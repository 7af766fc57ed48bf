# SPDX-License-Identifier: Apache-2.0
"""What the PCIe link of an NVMe drive can carry, from sysfs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.model.system import DeviceLink

SYSFS: Final = Path("/sys")
_NAMESPACE: Final = re.compile(r"(nvme\d+(?:c\d+)?n\d+)(?:p\d+)?")
_SPEED: Final = re.compile(r"(\d+(?:\.\d+)?) GT/s\b.*")
# PCI Express Base Specification 6.0: 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s, from 64 GT/s on flits that carry
# 236 bytes of packets in every 256.
_EIGHT_TEN_UP_TO: Final = 5e9
_BLOCKS_UP_TO: Final = 32e9


@dataclass(frozen=True, slots=True)
class PcieLink:
    """A link as it was negotiated, in one direction."""

    transfers_per_s: float
    lanes: int

    @property
    def bytes_per_s(self) -> float:
        """After line coding, before packet headers: no drive behind the link can be faster."""
        if self.transfers_per_s <= _EIGHT_TEN_UP_TO:
            coding = 8 / 10
        elif self.transfers_per_s <= _BLOCKS_UP_TO:
            coding = 128 / 130
        else:
            coding = 236 / 256
        return self.transfers_per_s * coding / 8 * self.lanes

    @property
    def text(self) -> str:
        """``16 GT/s x4``."""
        return f"{self.transfers_per_s / 1e9:g} GT/s x{self.lanes}"


def read_device_link(device: str, parents: Iterable[str] = (), sysfs: Path = SYSFS) -> DeviceLink | None:
    """The link of the NVMe drive that ``device`` is or, as a partition or a mapping, lies on alone.

    None for other drives, for several drives beneath one device (their links add up or not, as the mapping has it) and
    where sysfs does not say.
    """
    drives = {match.group(1) for name in (device, *parents) if (match := _NAMESPACE.fullmatch(name))}
    others = [name for name in parents if not _NAMESPACE.fullmatch(name)]
    if len(drives) != 1 or others:
        return None
    drive = drives.pop()
    controller = sysfs / "block" / drive / "device" / "device"
    speed = _SPEED.fullmatch(_text(controller / "current_link_speed"))
    lanes = _text(controller / "current_link_width")
    if speed is None or not lanes.isdecimal() or int(lanes) == 0:
        return None
    return DeviceLink(device=drive, transfers_per_s=float(speed.group(1)) * 1e9, lanes=int(lanes))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
