# SPDX-License-Identifier: Apache-2.0
"""How the engine's ranks are started. One file a launcher; ``choose_launcher`` finds the one that fits the engine."""

import contextlib
import itertools
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import cast

from ullage.discovery import modules_in
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import JobLauncherModule, Launcher, LauncherModule
from ullage.launch.batch import BatchSystem
from ullage.launch.hosts import NO_HOSTS, Hosts
from ullage.model.describe import Describe, MpiBuild
from ullage.parameters import suggest
from ullage.system.asking import said_by

_VERSION_TIMEOUT_S = 20


def _launchers() -> dict[str, LauncherModule]:
    """Return every module of this package that makes launchers, by the launcher's name."""
    found = [cast("LauncherModule", module) for module in modules_in(__name__) if hasattr(module, "create")]
    return {module.NAME: module for module in found}


def _job_launchers() -> dict[str, JobLauncherModule]:
    """Return every module of this package that launches as part of a batch job, by the launcher's name."""
    found = [cast("JobLauncherModule", module) for module in modules_in(__name__) if hasattr(module, "in_job")]
    return {module.NAME: module for module in found}


def launcher_names() -> list[str]:
    """Return the names of all launchers, as in ``--launcher``."""
    return [*_launchers(), *_job_launchers()]


def batch_systems() -> dict[str, BatchSystem]:
    """Return every module of this package that is a batch system, by its name."""
    found = [cast("BatchSystem", module) for module in modules_in(__name__) if hasattr(module, "state_of")]
    return {module.NAME: module for module in found}


def _in_job(module: JobLauncherModule, mpi: MpiBuild, hosts: Hosts) -> Launcher:
    """Return the launcher of a batch job. Raise ``UserError`` outside of one, and where it does not fit."""
    from ullage.system.allocation import allocation
    from ullage.system.hardware import usable_cores

    job = allocation()
    if job is None or job.scheduler != module.SCHEDULER:
        title = batch_systems()[module.SCHEDULER].TITLE
        what = f"{module.PROGRAM} starts ranks inside a job of {title}, and this is none"
        raise UserError(what, f"--launcher {module.NAME}", f"run it inside {module.INSIDE}", EXIT_ENVIRONMENT)
    if hosts.names:
        raise UserError("the batch system chooses the nodes", "--hosts", f"leave --hosts out with {module.NAME}")
    program = shutil.which(module.PROGRAM)
    if program is None:
        raise UserError(f"no {module.PROGRAM} found", "PATH", "install it, or load its module", EXIT_ENVIRONMENT)
    own = _fitting(_launchers().values(), mpi)
    return module.in_job(Path(program), mpi.family, usable_cores(), "" if own is None else own.NAME)


def choose_launcher(
    description: Describe, name: str | None = None, mpiexec: Path | None = None, hosts: Hosts = NO_HOSTS
) -> Launcher:
    """Return the launcher ``name``, else the batch job's that we are in, else that of the engine's MPI.

    Its mpiexec is ``mpiexec``, else that of the engine's MPI library, else one on PATH that says it is of the same
    family. Raise ``UserError`` (exit code 3) when there is none. ``hosts``: where ranks go, if any are named.
    """
    from ullage.system.allocation import allocation

    mpi = description.engine.mpi
    of_jobs = _job_launchers()
    if name in of_jobs:
        return _in_job(of_jobs[name], mpi, hosts)
    known = _launchers()
    job = allocation()
    if name is None and job is not None and not hosts.names:
        found = next((module for module in of_jobs.values() if job.scheduler == module.SCHEDULER), None)
        if found is not None and shutil.which(found.PROGRAM) is not None:
            with contextlib.suppress(UserError):
                return _in_job(found, mpi, hosts)
    module = _fitting(known.values(), mpi) if name is None else known.get(name)
    if module is None:
        if name is not None and name.rpartition(":")[2] in {*batch_systems(), "script"}:
            what = f"{name} makes jobs of `ullage run` and `ullage resume`, and this command measures here"
            raise UserError(what, "--launcher", "leave it out, and start the command inside a job")
        if name is not None:
            raise UserError(f"unknown launcher '{name}'", "--launcher", suggest(name, [*known, *of_jobs]))
        what = f"no launcher for the engine's MPI: {mpi.library}"
        raise UserError(what, "", f"name one with --launcher: {', '.join(sorted(known))}", EXIT_ENVIRONMENT)
    from ullage.system.hardware import usable_cores

    return module.create(mpiexec or _find_mpiexec(description, module), usable_cores(), hosts)


def _fitting(known: Collection[LauncherModule], mpi: MpiBuild) -> LauncherModule | None:
    """Return the launcher for what the library says of itself, else the usual one of its family."""
    exact = (one for one in known if one.LIBRARY is not None and one.LIBRARY.search(mpi.library))
    usual = (one for one in known if one.LIBRARY is None and mpi.family == one.FAMILY)
    return next(itertools.chain(exact, usual), None)


def _find_mpiexec(description: Describe, module: LauncherModule) -> Path:
    stated = description.engine.mpi.mpiexec
    # An engine may run with another library of its family than it was built with, as a module or LD_LIBRARY_PATH says.
    is_of_family = bool(stated) and description.engine.mpi.family == module.FAMILY and Path(stated).is_file()
    if is_of_family and (module.LIBRARY is None or module.VERSION_MARK.search(_version_of(stated))):
        return Path(stated)
    for word in module.MPIEXEC_NAMES:
        found = shutil.which(word)
        if found is not None and module.VERSION_MARK.search(_version_of(found)):
            return Path(found)
    what = f"no mpiexec of {module.NAME} found" + (f" (the engine names {stated})" if stated else "")
    raise UserError(
        what, "PATH", "install it, load its module, or build the engine with the MPI that is here", EXIT_ENVIRONMENT
    )


def _version_of(mpiexec: str) -> str:
    return said_by([mpiexec, "--version"], _VERSION_TIMEOUT_S, also_errors=True)
