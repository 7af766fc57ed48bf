# SPDX-License-Identifier: Apache-2.0
"""Processors, memory, NUMA nodes and network interfaces of this node."""

import os
import platform
import re
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ullage.model.system import Cpu, Memory, NetworkInterface, NumaNode
from ullage.system.allocation import allocation
from ullage.system.files import ROOT, bracketed, parse_cpu_list, read_fields, read_int, read_kib, read_text
from ullage.system.limits import memory_left
from ullage.units import parse_size

# These of some hundred flags decide which kernels can run, and whether the clock can be trusted.
_FLAGS: Final = re.compile(
    r"avx\w*|amx\w*|sse4_[12]|fma|f16c|sha_ni|aes|vaes|gfni|constant_tsc|nonstop_tsc|tsc_known_freq|hypervisor|clwb|clflushopt"
    r"|asimd\w*|sve\w*|sme2?|bf16|i8mm|atomics"
)


def usable_cpus() -> list[int]:
    """Return the logical CPUs that this process may run on, rising."""
    return sorted(os.sched_getaffinity(0))


def usable_cores(root: Path = ROOT, cpus: list[int] | None = None) -> int | None:
    """Count physical cores among ``cpus`` (else the usable ones, or a job's on each node); None where not stated."""
    if cpus is None and (of_job := _cores_of_job(root)) is not None:
        return of_job
    cores = [_core(root, cpu) for cpu in (usable_cpus() if cpus is None else cpus)]
    return None if None in cores or not cores else len(set(cores))


def _cores_of_job(root: Path) -> int | None:
    """Return the cores of a node of the batch job that we are in, None outside of one and where it does not say.

    This node may be another one, where people log in. Where the job does not say how many threads a core has, its
    nodes are taken to be like this one.
    """
    job = allocation()
    if job is None or job.cpus is None:
        return None
    return max(1, job.cpus // (job.threads_per_core or threads_per_core(root)))


def threads_per_core(root: Path = ROOT) -> int:
    """Count the hardware threads of a core of this node; 1 where the kernel does not state cores."""
    cpus = parse_cpu_list(read_text(root / "sys/devices/system/cpu/online"))
    cores = {_core(root, cpu) for cpu in cpus}
    return 1 if None in cores or not cores else max(1, len(cpus) // len(cores))


def ranks_by_default() -> int:
    """Return the number of usable cores, or of logical CPUs where the kernel does not state cores."""
    return usable_cores() or len(usable_cpus())


def _core(root: Path, cpu: int) -> tuple[int, int, int] | None:
    topology = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
    package, core = read_int(topology / "physical_package_id"), read_int(topology / "core_id")
    # Core numbers may start again in each die.
    return None if package is None or core is None else (package, read_int(topology / "die_id") or 0, core)


def read_cpu(root: Path = ROOT) -> Cpu:
    """Read the processor's model, counts, caches and the flags that matter."""
    info = read_fields(root / "proc/cpuinfo")
    online = parse_cpu_list(read_text(root / "sys/devices/system/cpu/online"))
    cores = [core for cpu in online if (core := _core(root, cpu)) is not None]
    allowed = usable_cpus()
    flags = (info.get("flags") or info.get("Features") or "").split()
    base_khz = read_int(root / "sys/devices/system/cpu/cpu0/cpufreq/base_frequency")
    caches: dict[str, int] = {}
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index[0-9]*")):
        level, kind, size = read_int(index / "level"), read_text(index / "type"), read_text(index / "size")
        if level is not None and kind is not None and size is not None and re.fullmatch(r"\d+[KMG]?", size):
            caches[f"L{level}" + {"Data": "d", "Instruction": "i"}.get(kind, "")] = parse_size(size)
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
        caches=caches,
        flags=sorted(flag for flag in flags if _FLAGS.fullmatch(flag)),
    )


# The numbers are the ARPHRD_* of linux/if_arp.h.
_Kind: TypeAlias = Literal["ethernet", "infiniband", "loopback"]
_KINDS: Final[dict[int, _Kind]] = {1: "ethernet", 32: "infiniband", 772: "loopback"}


# These drivers state a speed that no line has: what carries their packets is memory, or a card that somebody else sees.
_VIRTUAL: Final = "virtual"
VIRTUAL_DRIVERS: Final = frozenset(
    {
        *("virtio_net", "vmxnet3", "hv_netvsc", "xen_netfront", "vif", "ibmveth"),
        *("veth", "tun", "tap", "bridge", "openvswitch", "dummy", "netdevsim", "netkit", _VIRTUAL),
    }
)


def states_no_speed(driver: str | None) -> bool:
    """Tell whether the speed that an interface with that driver states is made up."""
    return driver in VIRTUAL_DRIVERS


def read_memory(root: Path = ROOT) -> Memory:
    """Read sizes of memory and swap, and the settings of pages."""
    info = read_fields(root / "proc/meminfo")
    left = read_kib(info, "MemAvailable"), memory_left(root)
    pages = info.get("HugePages_Total", "")
    return Memory(
        total_bytes=read_kib(info, "MemTotal"),
        available_bytes=min((size for size in left if size is not None), default=None),
        swap_total_bytes=read_kib(info, "SwapTotal"),
        huge_page_bytes=read_kib(info, "Hugepagesize"),
        huge_pages_total=int(pages) if pages.isdigit() else None,
        transparent_huge_pages=bracketed(read_text(root / "sys/kernel/mm/transparent_hugepage/enabled")),
    )


def read_numa(root: Path = ROOT) -> list[NumaNode]:
    """Return all NUMA nodes by number."""
    folders = (root / "sys/devices/system/node").glob("node[0-9]*")
    return sorted((_node(folder) for folder in folders), key=lambda node: node.node)


def _node(folder: Path) -> NumaNode:
    number = int(folder.name.removeprefix("node"))
    info = read_fields(folder / "meminfo")
    distances = (read_text(folder / "distance") or "").split()
    return NumaNode(
        node=number,
        cpus=read_text(folder / "cpulist") or "",
        memory_bytes=read_kib({name.split()[-1]: value for name, value in info.items()}, "MemTotal"),
        distances=[int(word) for word in distances if word.isdigit()],
    )


def read_network(root: Path = ROOT) -> list[NetworkInterface]:
    """Return all network interfaces by name."""
    folder = root / "sys/class/net"
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    return [_interface(folder / name) for name in names if (folder / name).is_dir()]


def _interface(folder: Path) -> NetworkInterface:
    speed_mbit, kind = read_int(folder / "speed"), read_int(folder / "type")
    return NetworkInterface(
        name=folder.name,
        state=read_text(folder / "operstate"),
        # A virtual link, and one that is down, state -1.
        speed_bits_per_s=speed_mbit * 10**6 if speed_mbit is not None and speed_mbit > 0 else None,
        mtu_bytes=read_int(folder / "mtu"),
        driver=_driver(folder),
        kind=None if kind is None else _KINDS.get(kind, "other"),
    )


def _driver(folder: Path) -> str | None:
    """Return the driver; ``virtual`` with neither a device nor an interface below, as a veth; None where unknown."""
    driver = folder / "device/driver"
    if driver.exists():
        return Path(os.path.realpath(driver)).name
    is_made = "/devices/virtual/net/" in os.path.realpath(folder)
    has_lower = any(entry.name.startswith("lower_") for entry in folder.iterdir())
    is_ethernet = _KINDS.get(read_int(folder / "type") or 0) == "ethernet"
    return _VIRTUAL if is_made and not has_lower and is_ethernet else None
