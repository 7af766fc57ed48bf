# SPDX-License-Identifier: Apache-2.0
"""What a batch system has given the job that we are in, as its variables say."""

import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ullage.reading import read_bytes
from ullage.system.files import said_by
from ullage.system.node_lists import expanded

Scheduler: TypeAlias = Literal["slurm", "pbs", "lsf", "flux"]
JOBS: Final[dict[str, Scheduler]] = {
    "SLURM_JOB_ID": "slurm",
    "PBS_JOBID": "pbs",
    "LSB_JOBID": "lsf",
    "FLUX_JOB_ID": "flux",
    "FLUX_ENCLOSING_ID": "flux",
}
"""The variables that stand in the environment of every job."""
PPN_VARIABLE: Final = "ULLAGE_PPN"
"""The processors of each node that a job of ours is to use, where it has whole nodes."""
# Older versions of Flux leave only this to a batch script. It may also name the instance of the whole system.
_INSTANCE: Final = "FLUX_URI"
# Each says how many processes one command of a launcher has started, of which we are one.
_SIZES: Final = {
    "SLURM_STEP_NUM_TASKS": "srun",
    "OMPI_COMM_WORLD_SIZE": "mpirun",
    "PMI_SIZE": "mpiexec",
    "FLUX_JOB_SIZE": "flux run",
}
# Each says which of them we are, from 0.
_NUMBERS: Final = ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "FLUX_TASK_RANK")
# Each names a file with a line for each processor, which names its node.
_FRONT_NODE: Final = re.compile(r"(?:batch|login)\d*(?:\.|$)")
# Slurm writes 2(x3),4 for three nodes with 2 processors and one with 4.
_CPUS: Final = re.compile(r"(\d+)(?:\(x\d+\))?")


@dataclass(frozen=True, slots=True)
class Allocation:
    """The job that we are in. ``cpus``: logical CPUs on its smallest node, None where it does not say."""

    scheduler: Scheduler
    job: str
    nodes: int
    cpus: int | None = None
    threads_per_core: int | None = None


def allocation(environment: Mapping[str, str] = os.environ) -> Allocation | None:
    """Return the job that we are in, or None outside of one. One whose size is not known counts as one node."""
    variable = next((name for name in JOBS if environment.get(name)), None)
    instance = environment.get(_INSTANCE, "")
    if variable is None:
        job = _of_instance(instance, "jobid") if instance else ""
        return Allocation("flux", job, _count(_of_instance(instance, "size")) or 1) if job else None
    if variable == "FLUX_ENCLOSING_ID":
        return Allocation("flux", environment[variable], _count(_of_instance(instance, "size")) or 1)
    listed = _listed_nodes(environment)
    if variable == "LSB_JOBID" and listed:
        # Slots of LSF are cores where a site counts whole nodes, and what was asked for elsewhere.
        return Allocation("lsf", environment[variable], len(listed), min(listed.values()), 1)
    text = environment.get("SLURM_JOB_CPUS_PER_NODE", "")
    found = [_CPUS.fullmatch(part) for part in text.split(",")]
    cpus = None if not text or None in found else min(int(match[1]) for match in found if match is not None)
    return Allocation(
        JOBS[variable],
        environment[variable],
        _count(environment.get("SLURM_JOB_NUM_NODES") or environment.get("FLUX_JOB_NNODES")) or len(listed) or 1,
        None if cpus is None else min(cpus, _count(environment.get(PPN_VARIABLE)) or cpus),
        _count(environment.get("SLURM_THREADS_PER_CORE")),
    )


def nodes_of_job(environment: Mapping[str, str] = os.environ) -> int:
    """Return the nodes of the batch job that we are in; 1 outside of one, and where it does not say."""
    found = allocation(environment)
    return 1 if found is None else found.nodes


def node_names(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of the nodes of the batch job that we are in, in its order; none where it does not say."""
    job = allocation(environment)
    if job is None:
        return []
    match job.scheduler:
        case "slurm":
            return expanded(environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NODELIST", ""))
        case "flux":
            return expanded(_of_instance(environment.get(_INSTANCE, ""), "hostlist"))
        case _:
            return list(_listed_nodes(environment))


def nodes_lost(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the nodes that Slurm has taken from this job since it began, as it does with failed ones; else none."""
    job = allocation(environment)
    if job is None or job.scheduler != "slurm" or job.nodes == 1:
        return []
    said = said_by(["squeue", "--noheader", f"--jobs={job.job}", "--format=%N"], environment=environment)
    left = {name for line in said.split() for name in expanded(line)}
    return [name for name in node_names(environment) if name not in left] if left else []


def copies(environment: Mapping[str, str] = os.environ) -> tuple[int, str]:
    """Return how many of us a launcher has started at once, and which; 1 and nothing where we are the only one."""
    for variable, launcher in _SIZES.items():
        if (count := _count(environment.get(variable)) or 1) > 1:
            return count, launcher
    return 1, ""


def is_first_copy(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether we are the first of the processes that a launcher has started at once, or the only one."""
    return all(environment.get(name, "0") == "0" for name in _NUMBERS)


@lru_cache
def _of_instance(address: str, attribute: str) -> str:
    """Return what an instance of Flux says of itself; empty where it does not answer. ``size``: its nodes."""
    return said_by(["flux", "getattr", attribute], environment={**os.environ, _INSTANCE: address}).strip()


def _listed_nodes(environment: Mapping[str, str]) -> dict[str, int]:
    """Return the nodes of the file that PBS or LSF has written for the job, with the lines of each; none without one.

    The node that runs the script of a job, which some sites of LSF put before the others, is no node for ranks.
    """
    place = next((environment[name] for name in ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE") if environment.get(name)), None)
    try:
        lines = read_bytes(Path(place)).decode("utf-8", "replace").split() if place else []
    except OSError:
        return {}
    counts = Counter(lines)
    return {name: count for name, count in counts.items() if not _FRONT_NODE.match(name)} or dict(counts)


def _count(word: str | None) -> int | None:
    return int(word) if word is not None and word.isdecimal() and int(word) > 0 else None
