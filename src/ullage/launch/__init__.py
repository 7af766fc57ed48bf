# SPDX-License-Identifier: Apache-2.0
"""How the engine's ranks are started, and what batch systems there are. One file an MPI or batch system.

``choose_launcher`` finds the one that fits the engine.
"""

import contextlib
import itertools
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ullage.discovery import gathered, modules_in
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import JobLauncher, Launcher, MpiLauncher
from ullage.launch.batch import BatchSystem
from ullage.launch.hosts import NO_HOSTS, Hosts
from ullage.model.describe import Describe, MpiBuild
from ullage.parameters import suggest
from ullage.system.files import said_by

_VERSION_TIMEOUT_S = 20


@cache
def _launchers() -> Mapping[str, type[MpiLauncher]]:
    return {one.NAME: one for one in gathered(modules_in(__name__), "LAUNCHERS") if issubclass(one, MpiLauncher)}


@cache
def _job_launchers() -> Mapping[str, type[JobLauncher]]:
    return {one.NAME: one for one in gathered(modules_in(__name__), "LAUNCHERS") if issubclass(one, JobLauncher)}


def launcher_names() -> list[str]:
    """Return the names of all launchers, as in ``--launcher``."""
    return [*_launchers(), *_job_launchers()]


def batch_systems() -> dict[str, BatchSystem]:
    """Return the batch systems, by their names."""
    found: list[BatchSystem] = [module.SYSTEM for module in modules_in(__name__) if hasattr(module, "SYSTEM")]
    return {system.name: system for system in found}


def _in_job(launcher: type[JobLauncher], mpi: MpiBuild, hosts: Hosts) -> Launcher:
    """Return the launcher of a batch job. Raise ``UserError`` outside of one, and where it does not fit."""
    from ullage.system.allocation import allocation
    from ullage.system.hardware import usable_cores

    if mpi.family == "single":
        what = "this engine runs without MPI, as one process"
        raise UserError(what, f"--launcher {launcher.NAME}", "load the module of an MPI", EXIT_ENVIRONMENT)
    job = allocation()
    if job is None or job.scheduler != launcher.SCHEDULER:
        title = batch_systems()[launcher.SCHEDULER].title
        what = f"{launcher.PROGRAM} starts ranks inside a job of {title}, and this is none"
        raise UserError(what, f"--launcher {launcher.NAME}", f"run it inside {launcher.INSIDE}", EXIT_ENVIRONMENT)
    if hosts.names:
        raise UserError("the batch system chooses the nodes", "--hosts", f"leave --hosts out with {launcher.NAME}")
    program = shutil.which(launcher.PROGRAM)
    if program is None:
        raise UserError(f"no {launcher.PROGRAM} found", "PATH", "install it, or load its module", EXIT_ENVIRONMENT)
    own = _fitting(mpi)
    return launcher.in_job(Path(program), mpi.family, usable_cores(), "" if own is None else own.NAME)


def choose_launcher(
    description: Describe, name: str | None = None, mpiexec: Path | None = None, hosts: Hosts = NO_HOSTS
) -> Launcher:
    """Return the launcher ``name``, else the batch job's that we are in, else that of the engine's MPI.

    Its mpiexec is ``mpiexec``, else that of the engine's MPI library, else one on PATH that says it is of the same
    family. Raise ``UserError`` (exit code 3) when there is none. ``hosts``: where ranks go, if any are named.
    """
    from ullage.system.allocation import allocation
    from ullage.system.hardware import usable_cores

    mpi, of_jobs, known = description.engine.mpi, _job_launchers(), _launchers()
    if name is not None and name in of_jobs:
        return _in_job(of_jobs[name], mpi, hosts)
    job = allocation()
    if name is None and job is not None and not hosts.names and mpi.family != "single":
        of_job = next((one for one in of_jobs.values() if job.scheduler == one.SCHEDULER), None)
        if of_job is not None and shutil.which(of_job.PROGRAM) is not None:
            with contextlib.suppress(UserError):
                return _in_job(of_job, mpi, hosts)
    launcher = _fitting(mpi) if name is None else known.get(name)
    if launcher is None:
        raise _unknown(name, mpi)
    return launcher(mpiexec or _find_mpiexec(description, launcher), usable_cores(), hosts)


def _unknown(name: str | None, mpi: MpiBuild) -> UserError:
    """Return the error that there is no launcher ``name``, or for ``mpi`` where none is named."""
    if name is None:
        right = f"name one with --launcher: {', '.join(sorted(_launchers()))}"
        return UserError(f"no launcher for the engine's MPI: {mpi.library}", "", right, EXIT_ENVIRONMENT)
    if name.rpartition(":")[2] in {*batch_systems(), "script"}:
        what = f"{name} makes jobs of `ullage run` and `ullage resume`, and this command measures here"
        return UserError(what, "--launcher", "leave it out, and start the command inside a job")
    return UserError(f"unknown launcher '{name}'", "--launcher", suggest(name, launcher_names()))


def _fitting(mpi: MpiBuild) -> type[MpiLauncher] | None:
    """Return the launcher for what the library says of itself, else the usual one of its family."""
    known = _launchers().values()
    exact = (one for one in known if one.LIBRARY is not None and one.LIBRARY.search(mpi.library))
    usual = (one for one in known if one.LIBRARY is None and mpi.family == one.FAMILY)
    return next(itertools.chain(exact, usual), None)


def _find_mpiexec(description: Describe, launcher: type[MpiLauncher]) -> Path:
    if not launcher.MPIEXEC_NAMES:
        return Path()
    stated = description.engine.mpi.mpiexec
    # An engine may run with another library of its family than it was built with, as a module or LD_LIBRARY_PATH says.
    is_of_family = bool(stated) and description.engine.mpi.family == launcher.FAMILY and Path(stated).is_file()
    if is_of_family and (launcher.LIBRARY is None or launcher.VERSION_MARK.search(_version_of(stated))):
        return Path(stated)
    for word in launcher.MPIEXEC_NAMES:
        found = shutil.which(word)
        if found is not None and launcher.VERSION_MARK.search(_version_of(found)):
            return Path(found)
    what = f"no mpiexec of {launcher.NAME} found" + (f" (the engine names {stated})" if stated else "")
    right = "install it, or load its module; `ullage doctor` says what is here"
    raise UserError(what, "PATH", right, EXIT_ENVIRONMENT)


def _version_of(mpiexec: str) -> str:
    return said_by([mpiexec, "--version"], _VERSION_TIMEOUT_S, also_errors=True)
