# SPDX-License-Identifier: Apache-2.0
"""Software around what is measured: kernel, versions, container, virtual machine, batch system, settings of MPI."""

import os
import platform
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Final

import ullage
from ullage.model.describe import Describe
from ullage.model.system import Environment, Kernel
from ullage.system.allocation import JOBS
from ullage.system.files import ROOT, read_fields, read_int, read_text

_ALLOWED: Final = re.compile(
    r"(?:OMPI_MCA|PRTE_MCA|PMIX_MCA|MPIR_CVAR|MPICH|I_MPI|UCX|FI|HYDRA|OMP|GOMP|KMP|MKL_NUM|OPENBLAS|ROMIO|HDF5|LIBFABRIC|DARSHAN)_\w+"
    r"|SLURM_(?:JOB_ID|NNODES|NTASKS|NTASKS_PER_NODE|CPUS_PER_TASK|CPU_BIND\w*|JOB_PARTITION|MPI_TYPE)"
    r"|LD_PRELOAD|LD_LIBRARY_PATH|LOADEDMODULES|TMPDIR|MALLOC_\w+|ULLAGE_ENGINE"
)
_SECRET: Final = re.compile(r"TOKEN|SECRET|PASSW|KEY|CREDENTIAL", re.IGNORECASE)
_CONTAINER_FILES: Final = {".dockerenv": "docker", "run/.containerenv": "podman", ".singularity.d": "apptainer"}
_HYPERVISORS: Final = {
    "kvm": "kvm", "qemu": "qemu", "vmware": "vmware", "virtualbox": "virtualbox", "microsoft": "hyper-v", "xen": "xen",
    "amazon ec2": "kvm", "google": "kvm", "openstack": "kvm", "firecracker": "firecracker",
}  # fmt: skip
_TIMING_OPTIONS: Final = re.compile(
    r"(?:mitigations|nosmt|isolcpus|nohz|nohz_full|rcu_nocbs|preempt|idle|intel_pstate|amd_pstate|intel_idle\.max_cstate"
    r"|processor\.max_cstate|tsc|clocksource|transparent_hugepage|default_hugepagesz|hugepagesz|hugepages|numa_balancing|iommu"
    r"|intel_iommu|amd_iommu|cpuidle_haltpoll\.force|psi)(?:=.*)?"
)


def read_environment(root: Path = ROOT, variables: Mapping[str, str] = os.environ) -> Environment:
    """Read what surrounds this process: container, virtual machine, batch system and allowed variables."""
    return Environment(
        container=_container(root, variables),
        hypervisor=_hypervisor(root),
        scheduler=next((name for variable, name in JOBS.items() if variable in variables), None),
        variables={
            name: value
            for name, value in sorted(variables.items())
            if _ALLOWED.fullmatch(name) and not _SECRET.search(name)
        },
    )


def _container(root: Path, variables: Mapping[str, str]) -> str | None:
    if variables.get("container"):
        return variables["container"]
    if "APPTAINER_CONTAINER" in variables or "SINGULARITY_CONTAINER" in variables:
        return "apptainer"
    return next((name for file, name in _CONTAINER_FILES.items() if (root / file).exists()), None)


def _hypervisor(root: Path) -> str | None:
    """Return the hypervisor the firmware names, ``unnamed`` where only the processor tells of one, else None."""
    maker = " ".join(
        read_text(root / f"sys/class/dmi/id/{name}") or "" for name in ("sys_vendor", "product_name")
    ).lower()
    for word, name in _HYPERVISORS.items():
        if word in maker:
            return name
    if (read_text(root / "sys/hypervisor/type") or "") == "xen":
        return "xen"
    flags = read_fields(root / "proc/cpuinfo").get("flags", "").split()
    return "unnamed" if "hypervisor" in flags else None


def read_kernel(root: Path = ROOT) -> Kernel:
    """Read release, distribution and the settings that change timing."""
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


def read_versions(description: Describe | None) -> dict[str, str]:
    """Return the versions of this program, of its libraries, and of the engine when there is one."""
    versions = {"ullage": ullage.__version__, "python": platform.python_version()}
    for name in ("pydantic", "numpy", "scipy"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if description is not None:
        engine = description.engine
        versions |= {"engine": engine.version, "git": engine.git, "compiler": engine.compiler}
        versions["mpi"] = engine.mpi.library
    return versions
