# SPDX-License-Identifier: Apache-2.0
"""Network interfaces of this node."""

import os
from pathlib import Path
from typing import Final, Literal

from ullage.model.system import NetworkInterface
from ullage.system.files import ROOT, read_int, read_text

_ETHERNET, _INFINIBAND, _LOOPBACK = 1, 32, 772  # ARPHRD_* of linux/if_arp.h
_KINDS: Final[dict[int, Literal["ethernet", "infiniband", "loopback"]]] = {
    _ETHERNET: "ethernet",
    _INFINIBAND: "infiniband",
    _LOOPBACK: "loopback",
}


def read_network(root: Path = ROOT) -> list[NetworkInterface]:
    """All interfaces by name."""
    folder = root / "sys/class/net"
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    return [_interface(folder / name) for name in names if (folder / name).is_dir()]


def _interface(folder: Path) -> NetworkInterface:
    speed_mbit, kind = read_int(folder / "speed"), read_int(folder / "type")
    driver = folder / "device/driver"
    return NetworkInterface(
        name=folder.name,
        state=read_text(folder / "operstate"),
        # A virtual link, and one that is down, state -1.
        speed_bits_per_s=speed_mbit * 10**6 if speed_mbit is not None and speed_mbit > 0 else None,
        mtu_bytes=read_int(folder / "mtu"),
        driver=Path(os.path.realpath(driver)).name if driver.exists() else None,
        kind=None if kind is None else _KINDS.get(kind, "other"),
    )
