# SPDX-License-Identifier: Apache-2.0
"""Kernel and distribution of this node."""

import os
import platform
import re
from pathlib import Path
from typing import Final

from ullage.model.system import Kernel
from ullage.system.files import ROOT, read_fields, read_int, read_text

_TIMING_OPTIONS: Final = re.compile(
    r"(?:mitigations|nosmt|isolcpus|nohz|nohz_full|rcu_nocbs|preempt|idle|intel_pstate|amd_pstate|intel_idle\.max_cstate"
    r"|processor\.max_cstate|tsc|clocksource|transparent_hugepage|default_hugepagesz|hugepagesz|hugepages|numa_balancing|iommu"
    r"|intel_iommu|amd_iommu|cpuidle_haltpoll\.force|psi)(?:=.*)?"
)


def read_kernel(root: Path = ROOT) -> Kernel:
    """Release, distribution and the settings that change timing."""
    name = os.uname()
    virtual_memory = root / "proc/sys/vm"
    return Kernel(
        system=name.sysname or None,
        release=name.release or None,
        version=name.version or None,
        distribution=read_fields(root / "etc/os-release", "=").get("PRETTY_NAME", "").strip('"') or None,
        libc=" ".join(platform.libc_ver()).strip() or None,
        options=[word for word in (read_text(root / "proc/cmdline") or "").split() if _TIMING_OPTIONS.fullmatch(word)],
        dirty_ratio=read_int(virtual_memory / "dirty_ratio"),
        dirty_background_ratio=read_int(virtual_memory / "dirty_background_ratio"),
        swappiness=read_int(virtual_memory / "swappiness"),
    )
