# SPDX-License-Identifier: Apache-2.0
"""``--launcher script``: write Slurm batch scripts for the plans of a run, and stop.

People read them, add what their site wants, and submit them; the records come to the same result folder as with any
other launcher.
"""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Final

from ullage.errors import UserError
from ullage.launch.base import MPICH_YIELDING, Family, ranks_on_a_node
from ullage.launch.process import deadline_of
from ullage.launch.site import NO_SITE, Site
from ullage.model.plan import Layout, Plan
from ullage.results.folder import ResultFolder, write_atomically
from ullage.system.hardware import usable_cores

# Under the wrong plug-in every rank would become a run of its own.
_PLUGINS: Final[dict[Family, tuple[str, str]]] = {
    "openmpi": ("pmix", "The engine was built with Open MPI, whose ranks find each other through PMIx."),
    "mpich": ("pmi2", "The engine was built with MPICH or its kin, whose ranks find each other through PMI-2."),
    "single": ("none", "The engine runs without MPI here: one rank."),
    "other": ("pmix", "The engine's MPI is not known to Ullage: choose from `srun --mpi=list` what it needs."),
}
# Waiting ranks that share cores must not spin on them. These are the settings of a local mpiexec without those that are
# for one node only.
_SETTINGS: Final[dict[Family, dict[str, str]]] = {
    "openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1"},
    "mpich": MPICH_YIELDING,
    "single": {"ULLAGE_MPI": "single"},
    "other": {},
}


@dataclass(frozen=True)
class Batch:
    """What was written. ``submit``: submits all; ``afterwards``: to be given when all jobs have ended."""

    scripts: list[Path]
    submit: list[str]
    afterwards: list[str]


def write_batch(
    result: ResultFolder, engine: Path, family: Family, launches: Sequence[tuple[int, Plan]], site: Site = NO_SITE
) -> Batch:
    """Write one script for each launch (number and plan, which ``prepare_launch`` wrote) below ``batch/``."""
    folder = result.path / "batch"
    scripts: list[Path] = []
    for launch, plan in launches:
        script = folder / f"{launch:03}-{plan.layout.ranks}-ranks.sbatch"
        write_atomically(script, batch_script(result, engine, family, launch, plan, usable_cores(), site))
        scripts.append(script)
    afterwards = ["ullage", "report", str(result.path)]
    submit = folder / "submit.sh"
    lines = [
        "#!/bin/bash",
        "# Submits all jobs of this run; they start one after the other. When all have ended:",
        f"#   {shlex.join(afterwards)}",
    ]
    lines += ["set -e", *(shlex.join(["sbatch", str(script)]) for script in scripts)]
    write_atomically(submit, "\n".join(lines) + "\n")
    return Batch(scripts, ["bash", str(submit)], afterwards)


def batch_script(
    result: ResultFolder,
    engine: Path,
    family: Family,
    launch: int,
    plan: Plan,
    cores: int | None = None,
    site: Site = NO_SITE,
) -> str:
    """Return the script for one launch. ``cores``: of the node that we are on, None when not known."""
    layout = plan.layout
    is_bound = is_to_be_bound(layout, cores)
    lines = _when_crowded(layout, _SETTINGS[family], is_bound=is_bound)
    plugin, reason = _PLUGINS[family]
    on_each = layout.ranks_per_node or (layout.nodes and math.ceil(layout.ranks / layout.nodes))
    threads = layout.threads if layout.threads > 1 else None
    placement = {"cpus-per-task": threads, "nodes": layout.nodes, "ntasks-per-node": on_each}
    known = {"account": site.account, "partition": site.queue}
    also = {"reservation": site.reservation, "constraint": site.constraint, "exclude": ",".join(site.exclude)}
    asked = [f"#SBATCH --{name}={value}" if value else f"##SBATCH --{name}=" for name, value in known.items()]
    asked += [line for line in (_directives(also), *(f"#SBATCH {word}" for word in site.extra)) if line]
    template = Template(resources.files("ullage.launch").joinpath("slurm.sbatch.in").read_text(encoding="utf-8"))
    return template.substitute(
        run_id=plan.run_id,
        suite=plan.suite,
        launch=launch,
        ranks=layout.ranks,
        placement=_directives(placement),
        share=sharing(exclusive=site.exclusive),
        time=f"#SBATCH --time={site.walltime}" if site.walltime else _time(plan),
        asked="\n".join(asked),
        modules="\n".join(f"module load {shlex.quote(one)}" for one in site.modules) or "# module load ...",
        output=sbatch_word(result.stderr_path(launch)),
        environment="\n".join(["\n", *lines]) if lines else "",
        mpi=plugin,
        mpi_reason=reason,
        threads=f"--cpus-per-task={layout.threads} " if layout.threads > 1 else "",
        binding='"$bind"' if is_bound else "none",
        engine=shlex.quote(str(engine)),
        plan=shlex.quote(str(result.plan_path(launch))),
    )


def _directives(said: Mapping[str, object]) -> str:
    return "\n".join(f"#SBATCH --{name}={value}" for name, value in said.items() if value)


def _when_crowded(layout: Layout, settings: dict[str, str], *, is_bound: bool) -> list[str]:
    """Return lines that let ranks yield, and bind none, where they outnumber the processors of the job's own nodes."""
    most = ranks_on_a_node(layout)
    each = "$(((SLURM_NTASKS + ${SLURM_JOB_NUM_NODES:-1} - 1) / ${SLURM_JOB_NUM_NODES:-1}))"
    wanted = each if most is None else str(most * layout.threads)
    exports = [f"  export {name}={shlex.quote(value)}" for name, value in settings.items()]
    first, free = (["bind=cores"], ["  bind=none"]) if is_bound else ([], [])
    return [*first, f'if [ {wanted} -gt "${{SLURM_CPUS_ON_NODE:-1}}" ]; then', *free, *(exports or ["  :"]), "fi"]


def is_to_be_bound(layout: Layout, cores: int | None) -> bool:
    """Tell whether to bind ranks: Slurm gives each thread of a rank a processor of its own.

    Only a layout that fits here and is still not bound asks for none. Where this node has too few ``cores``, the
    job's nodes are others.
    """
    on_a_node = ranks_on_a_node(layout)
    fits_here = cores is not None and on_a_node is not None and on_a_node * layout.threads <= cores
    return layout.binding == "core" or not fits_here


def sharing(*, exclusive: bool) -> str:
    """Return the lines on other people's jobs on the nodes."""
    if not exclusive:
        return "# Other people's jobs on a node are in the numbers, as --no-exclusive allows."
    return "# The whole node: other people's jobs on it would be in the numbers.\n#SBATCH --exclusive"


def _time(plan: Plan) -> str:
    seconds = deadline_of(plan)
    if seconds is None:
        return "# The run has no time budget, so the partition's default limit holds:\n##SBATCH --time="
    # Slurm counts in minutes; five more for the start and for the two minutes' warning.
    minutes = math.ceil(seconds / 60) + 5
    return f"#SBATCH --time={minutes // 60:02}:{minutes % 60:02}:00"


def sbatch_word(path: Path) -> str:
    """Write a path as a word of an #SBATCH line, where % is a pattern; raise ``UserError`` for what no quotes hold."""
    text = str(path)
    if any(character in text for character in '\n\r"\\'):
        what = "a batch script cannot write to a path with line ends, double quotes or backslashes"
        raise UserError(what, text, "choose another --result")
    return f'"{text.replace("%", "%%")}"'
