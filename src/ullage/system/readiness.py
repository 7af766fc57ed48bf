# SPDX-License-Identifier: Apache-2.0
"""What of this machine Ullage can use: the rights and devices that the kernel shows. Read without root rights."""

import os
from pathlib import Path
from typing import Final

from ullage.readiness import Readiness
from ullage.system.files import ROOT, read_int
from ullage.units import format_volume

_COUNTS_OWN: Final = 2
_FEW_FILES: Final = 4096
_LITTLE_LOCKED: Final = 64 << 20
_GPUS: Final = {"dev/nvidiactl": "NVIDIA", "dev/kfd": "AMD"}


def rights(root: Path = ROOT) -> list[Readiness]:
    """Return what the kernel lets this user do and which GPUs it shows."""
    return [_gpu(root), _perf(root), *_limits(root)]


def gpu_makers(root: Path = ROOT) -> list[str]:
    """Return whose drivers of GPUs are loaded."""
    return [maker for device, maker in _GPUS.items() if (root / device).exists()]


def _gpu(root: Path) -> Readiness:
    if not (makers := gpu_makers(root)):
        right = "a node that has GPUs, or modprobe nvidia or amdgpu (root)"
        return Readiness("GPU", "not here", "no driver of NVIDIA or AMD has a device in /dev", right)
    return Readiness("GPU", "ok", f"driver of {' and '.join(makers)}")


def _perf(root: Path) -> Readiness:
    level = read_int(root / "proc/sys/kernel/perf_event_paranoid")
    if level is None:
        return Readiness("perf", "not here", "this kernel has no perf events", "a kernel with CONFIG_PERF_EVENTS")
    if level <= _COUNTS_OWN or os.geteuid() == 0:
        return Readiness("perf", "ok", f"a user may count events of own processes (perf_event_paranoid {level})")
    right = f"sysctl kernel.perf_event_paranoid={_COUNTS_OWN} (root)"
    return Readiness("perf", "limited", f"no counters for users (perf_event_paranoid {level})", right)


def _limits(root: Path) -> list[Readiness]:
    from ullage.system.limits import read_limits

    limits = read_limits(root)
    files, locked = limits.open_files, limits.locked_memory_bytes
    few = files is not None and files < _FEW_FILES
    little = locked is not None and locked < _LITTLE_LOCKED
    return [
        Readiness(
            "open files",
            "limited" if few else "ok",
            "no limit" if files is None else f"at most {files}",
            f"ulimit -n {_FEW_FILES}" if few else "",
        ),
        Readiness(
            "locked memory",
            "limited" if little else "ok",
            "no limit" if locked is None else f"at most {format_volume(locked)}",
            "ulimit -l unlimited (memlock in /etc/security/limits.conf)" if little else "",
        ),
    ]
