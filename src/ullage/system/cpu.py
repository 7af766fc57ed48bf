# SPDX-License-Identifier: Apache-2.0
"""Processors of this node."""

import os
import platform
import re
from pathlib import Path
from typing import Final

from ullage.model.system import Cpu
from ullage.system.files import ROOT, parse_cpu_list, read_fields, read_int, read_text
from ullage.units import parse_size

# Among some hundred flags those that decide which kernels can run, and whether the clock can be trusted.
_FLAGS: Final = re.compile(
    r"avx\w*|amx\w*|sse4_[12]|fma|f16c|sha_ni|aes|vaes|gfni|constant_tsc|nonstop_tsc|tsc_known_freq|hypervisor|clwb|clflushopt"
    r"|asimd\w*|sve\w*|sme2?|bf16|i8mm|atomics"
)


def usable_cpus() -> list[int]:
    """Logical CPUs that this process may run on."""
    return sorted(os.sched_getaffinity(0))


def usable_cores(root: Path = ROOT, cpus: list[int] | None = None) -> int | None:
    """Physical cores among ``cpus`` (default ``usable_cpus()``); None when the kernel does not state them."""
    cores = [_core(root, cpu) for cpu in (usable_cpus() if cpus is None else cpus)]
    return None if None in cores or not cores else len(set(cores))


def ranks_by_default() -> int:
    """Usable cores; logical CPUs where the kernel does not state cores."""
    return usable_cores() or len(usable_cpus())


def _core(root: Path, cpu: int) -> tuple[int, int, int] | None:
    topology = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
    package, core = read_int(topology / "physical_package_id"), read_int(topology / "core_id")
    # Core numbers may start again in each die.
    return None if package is None or core is None else (package, read_int(topology / "die_id") or 0, core)


def read_cpu(root: Path = ROOT) -> Cpu:
    """Model, counts, caches and the flags that matter."""
    info = read_fields(root / "proc/cpuinfo")
    online = parse_cpu_list(read_text(root / "sys/devices/system/cpu/online"))
    cores = [core for cpu in online if (core := _core(root, cpu)) is not None]
    allowed = usable_cpus()
    flags = (info.get("flags") or info.get("Features") or "").split()
    base_khz = read_int(root / "sys/devices/system/cpu/cpu0/cpufreq/base_frequency")
    return Cpu(
        model=info.get("model name"),
        vendor=info.get("vendor_id"),
        architecture=platform.machine() or None,
        sockets=len({core[0] for core in cores}) or None,
        physical_cores=len(set(cores)) or None,
        logical_cpus=len(online) or None,
        usable_cpus=len(allowed),
        usable_cores=usable_cores(root, allowed),
        base_hz=None if base_khz is None else base_khz * 1e3,
        governor=read_text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        caches=_caches(root),
        flags=sorted(flag for flag in flags if _FLAGS.fullmatch(flag)),
    )


def _caches(root: Path) -> dict[str, int]:
    caches: dict[str, int] = {}
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index[0-9]*")):
        level, kind, size = read_int(index / "level"), read_text(index / "type"), read_text(index / "size")
        if level is not None and kind is not None and size is not None and re.fullmatch(r"\d+[KMG]?", size):
            caches[f"L{level}" + {"Data": "d", "Instruction": "i"}.get(kind, "")] = parse_size(size)
    return caches
