# SPDX-License-Identifier: Apache-2.0
"""Where targets lie: mount, file system, free space, the block device beneath, and what its PCIe link can carry."""

import contextlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.model.plan import Target
from ullage.model.system import BlockDevice, DeviceLink, Place
from ullage.system.files import ROOT, bracketed, read_int, read_text
from ullage.system.limits import drive_limits
from ullage.uri import target_folder

_MEMORY: Final = frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"})
_REMOTE: Final = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "lustre", "beegfs", "beegfs_nodev", "gpfs", "ceph", "pvfs2",
    "orangefs", "afs", "panfs", "wekafs", "daos", "dvs", "glusterfs",
    "fuse.glusterfs", "fuse.ceph", "fuse.sshfs", "fuse.s3fs", "fuse.dfuse",
})  # fmt: skip
_LOCAL: Final = frozenset({
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "vfat", "exfat", "ntfs3", "erofs", "squashfs",
})  # fmt: skip
_SECTOR_BYTES: Final = 512  # of /sys/block/*/size, whatever the device's own sectors are
SYSFS: Final = Path("/sys")
_NAMESPACE: Final = re.compile(r"(nvme\d+(?:c\d+)?n\d+)(?:p\d+)?")
_SPEED: Final = re.compile(r"(\d+(?:\.\d+)?) GT/s\b.*")
_SATA_SPEED: Final = re.compile(r"(\d+(?:\.\d+)?) Gbps")
_PORT: Final = re.compile(r"ata\d+")
# The PCI Express Base Specification 6.0 codes lines with 8b/10b up to 5 GT/s and with 128b/130b up to 32 GT/s. From
# 64 GT/s on it has flits that carry 236 bytes of packets in every 256.
_EIGHT_TEN_UP_TO: Final = 5e9
_BLOCKS_UP_TO: Final = 32e9


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of /proc/self/mountinfo."""

    device: str
    mount_point: str
    options: tuple[str, ...]
    file_system: str
    source: str


def read_mounts(root: Path = ROOT) -> list[Mount]:
    """Return all mounts that this process sees, in their order."""
    lines = (read_text(root / "proc/self/mountinfo") or "").splitlines()
    return [mount for line in lines if (mount := _mount(line)) is not None]


def _mount(line: str) -> Mount | None:
    head, separator, tail = line.partition(" - ")
    left, right = head.split(" "), tail.split(" ")
    if not separator or len(left) < 6 or len(right) < 2:
        return None
    super_options = right[2].split(",") if len(right) > 2 else []
    options = tuple(dict.fromkeys([*left[5].split(","), *super_options]))
    return Mount(left[2], _unescape(left[4]), options, right[0], _unescape(right[1]))


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), text)


def find_mount(path: Path, mounts: list[Mount]) -> Mount | None:
    """Return the mount of ``path`` (absolute, links resolved): the longest that fits, of equals the last; or None."""
    found: Mount | None = None
    for mount in mounts:
        fits = path == Path(mount.mount_point) or Path(mount.mount_point) in path.parents
        if fits and (found is None or len(mount.mount_point) >= len(found.mount_point)):
            found = mount
    return found


def read_places(targets: list[Target], root: Path = ROOT) -> list[Place]:
    """Return one entry for each target that has a path."""
    mounts = read_mounts(root)
    return [
        _place(target.name, path, mounts, root) for target in targets if (path := target_folder(target)) is not None
    ]


def _place(name: str, path: Path, mounts: list[Mount], root: Path) -> Place:
    if not path.exists():
        return Place(target=name, path=str(path), exists=False)
    resolved = Path(os.path.realpath(path))
    mount = find_mount(resolved, mounts)
    space = None
    with contextlib.suppress(OSError):
        space = os.statvfs(path)
    kind = mount.file_system if mount else None
    return Place(
        target=name,
        path=str(path),
        exists=True,
        mount_point=mount.mount_point if mount else None,
        file_system=kind,
        options=list(mount.options) if mount else [],
        source=mount.source if mount else None,
        is_memory=None if kind is None else kind in _MEMORY,
        is_remote=True if kind in _REMOTE else False if kind in _LOCAL or kind in _MEMORY else None,
        free_bytes=space.f_bavail * space.f_frsize if space else None,
        total_bytes=space.f_blocks * space.f_frsize if space else None,
        # File systems that make inodes as they go state 0 of 0.
        free_inodes=space.f_favail if space and space.f_files else None,
        block_bytes=space.f_bsize if space else None,
        device=read_device(mount.device, root) if mount else None,
    )


def read_device(number: str, root: Path = ROOT) -> BlockDevice | None:
    """Return the block device ``MAJOR:MINOR``; None where there is none (memory, network)."""
    link = root / "sys/dev/block" / number
    if not link.exists():
        return None
    folder = Path(os.path.realpath(link))
    whole = folder if (folder / "queue").is_dir() else folder.parent
    parents = [whole.name] if whole != folder else sorted(entry.name for entry in (folder / "slaves").glob("*"))
    sectors = read_int(folder / "size")
    queue = whole / "queue"
    rotational, read_ahead = read_int(queue / "rotational"), read_int(queue / "read_ahead_kb")
    # What lies on one drive alone has its limits too; of several, nobody knows how the bytes are divided.
    alone = [root / "sys/block" / parents[0]] if len(parents) == 1 else []
    return BlockDevice(
        name=folder.name,
        parents=parents,
        size_bytes=None if sectors is None else sectors * _SECTOR_BYTES,
        model=read_text(whole / "device/model"),
        logical_block_bytes=read_int(queue / "logical_block_size"),
        physical_block_bytes=read_int(queue / "physical_block_size"),
        rotational=None if rotational is None else bool(rotational),
        scheduler=bracketed(read_text(queue / "scheduler")),
        queue_requests=read_int(queue / "nr_requests"),
        read_ahead_bytes=None if read_ahead is None else read_ahead * 1024,
        write_cache=read_text(queue / "write_cache"),
        link=read_device_link(folder.name, parents, root / "sys") or _sata_link(whole),
        limits=drive_limits({dev for disk in (whole, *alone) if (dev := read_text(disk / "dev"))}, root),
        numa_node=_numa_node(folder, root / "sys"),
    )


def _numa_node(folder: Path, top: Path) -> int | None:
    """Return the NUMA node that the kernel states of a device or of what it is part of; None where it does not say."""
    top = Path(os.path.realpath(top))
    for place in (folder, *folder.parents):
        if place == top:
            return None
        node = read_int(place / "numa_node")
        if node is not None and node >= 0:
            return node
    return None


@dataclass(frozen=True, slots=True)
class PcieLink:
    """A link as it was negotiated, in one direction. ``is_sata``: it codes lines as SATA does at every speed."""

    transfers_per_s: float
    lanes: int
    is_sata: bool = False

    @property
    def bytes_per_s(self) -> float:
        """The rate after line coding, before packet headers: no drive behind the link can be faster."""
        if self.is_sata or self.transfers_per_s <= _EIGHT_TEN_UP_TO:
            coding = 8 / 10
        elif self.transfers_per_s <= _BLOCKS_UP_TO:
            coding = 128 / 130
        else:
            coding = 236 / 256
        return self.transfers_per_s * coding / 8 * self.lanes

    @property
    def text(self) -> str:
        """``16 GT/s x4``, or ``6 Gbit/s``."""
        if self.is_sata:
            return f"{self.transfers_per_s / 1e9:g} Gbit/s"
        return f"{self.transfers_per_s / 1e9:g} GT/s x{self.lanes}"


def read_device_link(device: str, parents: Iterable[str] = (), sysfs: Path = SYSFS) -> DeviceLink | None:
    """Return the link of the NVMe drive that ``device`` is or, as a partition or a mapping, lies on alone.

    Return None for other drives, for several drives beneath one device (their links add up or not, as the mapping has
    it) and where sysfs does not say.
    """
    drives = {match.group(1) for name in (device, *parents) if (match := _NAMESPACE.fullmatch(name))}
    others = [name for name in parents if not _NAMESPACE.fullmatch(name)]
    if len(drives) != 1 or others:
        return None
    drive = drives.pop()
    controller = sysfs / "block" / drive / "device" / "device"
    speed = _SPEED.fullmatch(read_text(controller / "current_link_speed") or "")
    lanes = read_text(controller / "current_link_width") or ""
    if speed is None or not lanes.isdecimal() or int(lanes) == 0:
        return None
    return DeviceLink(device=drive, transfers_per_s=float(speed.group(1)) * 1e9, lanes=int(lanes))


def _sata_link(disk: Path) -> DeviceLink | None:
    """Return the link of the port above ``disk``, a folder of sysfs; None where it is no SATA drive."""
    port = next((place for place in Path(os.path.realpath(disk)).parents if _PORT.fullmatch(place.name)), None)
    texts = [] if port is None else [read_text(path) or "" for path in port.glob("link*/ata_link/link*/sata_spd")]
    speeds = [float(match.group(1)) * 1e9 for text in texts if (match := _SATA_SPEED.fullmatch(text))]
    # Behind a port multiplier several drives share the port, and each has a link of its own.
    return DeviceLink(device=disk.name, transfers_per_s=speeds[0], lanes=1, kind="sata") if len(speeds) == 1 else None
