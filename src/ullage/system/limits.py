# SPDX-License-Identifier: Apache-2.0
"""What control groups, affinity and resource limits leave to this process."""

import resource
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from ullage.model.system import DriveLimit, Limits
from ullage.system.files import ROOT, read_fields, read_int, read_text

# Version 1 says "no limit" with the largest multiple of the page size below 2^63.
_UNLIMITED_V1: Final = 1 << 62


def read_limits(root: Path = ROOT) -> Limits:
    """Return the tightest limit of each kind."""
    groups = _groups(root)
    status = read_fields(root / "proc/self/status")
    return Limits(
        cgroup=_version(groups, root),
        memory_bytes=min(_memory_limits(groups, root), default=None),
        cpu_quota=min(_cpu_quotas(groups, root), default=None),
        cpus_allowed=status.get("Cpus_allowed_list"),
        memory_nodes_allowed=status.get("Mems_allowed_list"),
        open_files=_soft_limit(resource.RLIMIT_NOFILE),
        locked_memory_bytes=_soft_limit(resource.RLIMIT_MEMLOCK),
    )


def _soft_limit(which: int) -> int | None:
    soft, _ = resource.getrlimit(which)
    return None if soft == resource.RLIM_INFINITY else soft


def _groups(root: Path) -> dict[str, str]:
    """Return the control group of this process by controller; that of version 2 is named ``''``."""
    groups: dict[str, str] = {}
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        groups |= dict.fromkeys(controllers.split(","), path)
    return groups


def _version(groups: dict[str, str], root: Path) -> Literal["v1", "v2", "hybrid", "none"] | None:
    if not (root / "proc/self/cgroup").exists():
        return None
    old = any(name and not name.startswith("name=") for name in groups)
    return ("hybrid" if "" in groups else "v1") if old else "v2" if "" in groups else "none"


def _upwards(base: Path, group: str) -> Iterator[Path]:
    """Yield the group's folder and those above it, since each limits; a container may see its own as the top."""
    folder = base / group.lstrip("/")
    while folder != base and base in folder.parents:
        yield folder
        folder = folder.parent
    yield base


def _hierarchy(groups: dict[str, str], controller: str, root: Path) -> Iterable[Path]:
    top = root / "sys/fs/cgroup"
    return _upwards(top / controller, groups[controller]) if controller in groups else ()


def _unified(groups: dict[str, str], root: Path) -> Iterable[Path]:
    return _upwards(root / "sys/fs/cgroup", groups[""]) if "" in groups else ()


def _memory_limits(groups: dict[str, str], root: Path) -> Iterator[int]:
    paths = [folder / "memory.max" for folder in _unified(groups, root)]
    paths += [folder / "memory.limit_in_bytes" for folder in _hierarchy(groups, "memory", root)]
    for path in paths:
        limit = read_int(path)
        if limit is not None and 0 < limit < _UNLIMITED_V1:
            yield limit


def memory_left(root: Path = ROOT) -> int | None:
    """Return the bytes that control groups still give, clean pages included; None where none limits memory."""
    groups = _groups(root)
    v1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    left = [_left(folder, "memory.max", "memory.current", "inactive_file") for folder in _unified(groups, root)]
    left += [_left(folder, *v1) for folder in _hierarchy(groups, "memory", root)]
    return min((found for found in left if found is not None), default=None)


def _left(folder: Path, limit_name: str, taken_name: str, droppable_name: str) -> int | None:
    limit, taken = read_int(folder / limit_name), read_int(folder / taken_name)
    if limit is None or taken is None or limit >= _UNLIMITED_V1:
        return None
    droppable = read_fields(folder / "memory.stat", " ").get(droppable_name, "0")
    return max(0, limit - max(0, taken - (int(droppable) if droppable.isdigit() else 0)))


def _cpu_quotas(groups: dict[str, str], root: Path) -> Iterator[float]:
    for folder in _unified(groups, root):
        quota, _, period = (read_text(folder / "cpu.max") or "max").partition(" ")
        if quota.isdigit() and period.isdigit() and int(period):
            yield int(quota) / int(period)
    for folder in _hierarchy(groups, "cpu", root):
        quota, period = read_int(folder / "cpu.cfs_quota_us"), read_int(folder / "cpu.cfs_period_us")
        if quota is not None and period is not None and quota > 0 and period > 0:
            yield quota / period


# The names of limits in a line of io.max, and the files of version 1 that hold one each.
_DRIVE_LIMITS: Final[Sequence[tuple[str, str, Literal["read", "write"], Literal["bytes", "operations"]]]] = (
    ("rbps", "blkio.throttle.read_bps_device", "read", "bytes"),
    ("wbps", "blkio.throttle.write_bps_device", "write", "bytes"),
    ("riops", "blkio.throttle.read_iops_device", "read", "operations"),
    ("wiops", "blkio.throttle.write_iops_device", "write", "operations"),
)


def drive_limits(devices: Collection[str], root: Path = ROOT) -> list[DriveLimit]:
    """Return the tightest limit of each kind on the drives ``MAJOR:MINOR``, of this process's control groups."""
    groups = _groups(root)
    unified, blkio = list(_unified(groups, root)), list(_hierarchy(groups, "blkio", root))
    found: list[DriveLimit] = []
    for key, name, access, unit in _DRIVE_LIMITS:
        files = [*(folder / "io.max" for folder in unified), *(folder / name for folder in blkio)]
        lines = [(line, file) for file in files for line in (read_text(file) or "").splitlines()]
        stated = [(float(value), file) for line, file in lines if (value := _limit_in(line, devices, key)).isdigit()]
        if stated:
            value, file = min(stated)
            found.append(DriveLimit(access=access, unit=unit, value=value, source=str(file)))
    return found


def _limit_in(line: str, devices: Collection[str], key: str) -> str:
    """Return the limit ``key`` in a line of one of ``devices``: ``8:0 rbps=9 wbps=max``, or in version 1 ``8:0 9``."""
    device, *words = line.split() or [""]
    if device not in devices:
        return ""
    named = [word.removeprefix(f"{key}=") for word in words if word.startswith(f"{key}=")]
    return named[0] if named else words[0] if len(words) == 1 else ""
