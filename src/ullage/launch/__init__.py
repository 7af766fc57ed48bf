# SPDX-License-Identifier: Apache-2.0
"""How the engine's ranks are started. One file a launcher; ``choose_launcher`` finds the one that fits the engine."""

import shutil
import subprocess
from pathlib import Path
from typing import cast

from ullage.discovery import modules_in
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import Launcher, LauncherModule
from ullage.launch.hosts import NO_HOSTS, Hosts
from ullage.model.describe import Describe
from ullage.parameters import suggest

_VERSION_TIMEOUT_S = 20


def _launchers() -> dict[str, LauncherModule]:
    """Return every module of this package that makes launchers, by the launcher's name."""
    found = [cast("LauncherModule", module) for module in modules_in(__name__) if hasattr(module, "create")]
    return {module.NAME: module for module in found}


def launcher_names() -> list[str]:
    """Return the names of all launchers, as in ``--launcher``."""
    return list(_launchers())


def choose_launcher(
    description: Describe, name: str | None = None, mpiexec: Path | None = None, hosts: Hosts = NO_HOSTS
) -> Launcher:
    """Return the launcher ``name``, else the one of the MPI that the engine was built with.

    Its mpiexec is ``mpiexec``, else that of the engine's MPI library, else one on PATH that says it is of the same
    family. Raise ``UserError`` (exit code 3) when there is none. ``hosts``: where ranks go, if any are named.
    """
    known = _launchers()
    family = description.engine.mpi.family
    module = next((m for m in known.values() if family == m.FAMILY), None) if name is None else known.get(name)
    if module is None:
        if name is not None:
            raise UserError(f"unknown launcher '{name}'", "--launcher", suggest(name, known))
        what = f"no launcher for the engine's MPI: {description.engine.mpi.library}"
        raise UserError(what, "", f"name one with --launcher: {', '.join(sorted(known))}", EXIT_ENVIRONMENT)
    from ullage.system.hardware import usable_cores

    return module.create(mpiexec or _find_mpiexec(description, module), usable_cores(), hosts)


def _find_mpiexec(description: Describe, module: LauncherModule) -> Path:
    stated = description.engine.mpi.mpiexec
    if stated and description.engine.mpi.family == module.FAMILY and Path(stated).is_file():
        return Path(stated)
    for word in module.MPIEXEC_NAMES:
        found = shutil.which(word)
        if found is not None and module.VERSION_MARK.search(_version_text(found)):
            return Path(found)
    what = f"no mpiexec of {module.NAME} found" + (f" (the engine names {stated})" if stated else "")
    raise UserError(
        what, "PATH", "install it, load its module, or build the engine with the MPI that is here", EXIT_ENVIRONMENT
    )


def _version_text(mpiexec: str) -> str:
    try:
        done = subprocess.run(
            [mpiexec, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).decode("utf-8", "replace")
