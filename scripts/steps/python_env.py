# SPDX-License-Identifier: Apache-2.0
"""Virtual environments and the pinned wheels in them."""

import importlib.util
import os
import sys
from pathlib import Path

from steps import packages
from steps.process import ROOT, StepError, answer, log_of, logged, say, show_tail

VENV = ROOT / ".venv"
VENV_MPICH = ROOT / ".venv-mpich"
VENV_GUESTS = ROOT / ".venv-guests"
# This variable names the folder of wheels; `--wheelhouse DIR` sets it.
WHEELHOUSE = "ULLAGE_WHEELHOUSE"
# pip prints one of these where it reaches no index: about the network, a proxy, or a package that it has not found.
_UNREACHABLE = (
    *("Temporary failure in name resolution", "NewConnectionError", "ConnectTimeoutError", "ReadTimeoutError"),
    *("Network is unreachable", "Connection refused", "ProxyError", "SSLError", "No matching distribution found"),
)


def ensure_venv(folder: Path) -> None:
    """Make the virtual environment ``folder`` of this interpreter, unless it is there and works.

    One that was moved, or whose Python is gone or another one, is made anew. Raises StepError when it cannot be made.
    """
    if _works(folder):
        return
    if importlib.util.find_spec("ensurepip") is None:
        packages.ensure("python")
    say(f"{folder.name}: Python {sys.version.split()[0]} ({sys.executable})")
    logged(f"venv{folder.name}", [sys.executable, "-m", "venv", "--clear", folder])


def _works(folder: Path) -> bool:
    code = "import sys, pip; print(sys.prefix, sys.base_prefix, sys.version)"
    # A moved checkout has a Python that works and scripts whose first lines name the old place.
    pip = folder / "bin" / "pip"
    in_place = pip.is_file() and str(folder) in pip.read_text(encoding="utf-8", errors="replace")
    return in_place and answer([folder / "bin" / "python", "-c", code]) == f"{folder} {sys.base_prefix} {sys.version}\n"


def install(folder: Path, *requirements: str) -> None:
    """Install pinned wheels (the names of requirements files at the root) into a virtual environment."""
    say(f"{folder.name}: {', '.join(requirements)}")
    files = [word for name in requirements for word in ("--requirement", str(ROOT / name))]
    _pip(folder, f"pip-{'-'.join(Path(name).stem for name in requirements)}", "--only-binary=:all:", *files)


def install_optional(folder: Path, requirements: str, lost: str) -> None:
    """Install what can be done without; where it cannot be had, say what is ``lost`` and go on."""
    try:
        install(folder, requirements)
    except StepError as error:
        say(f"{lost} ({error})")


def install_wheels(folder: Path, pins: list[str]) -> None:
    """Install single pinned wheels (``name==version``) into a virtual environment."""
    say(f"{folder.name}: {', '.join(pins)}")
    _pip(folder, "pip-tools", "--only-binary=:all:", *pins)


def install_ullage() -> None:
    """Install this checkout into .venv, editable, with the tools that are there already, and compile its modules.

    pip compiles no editable package, and no command does where the environment forbids Python to write bytecode.
    """
    _pip(VENV, "pip-ullage", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    logged("compileall", [VENV / "bin" / "python", "-m", "compileall", "-q", "-j0", ROOT / "src"])


def download(folder: Path, place: Path, requirements: str) -> None:
    """Download pinned wheels into ``place``; ``folder``: the virtual environment whose pip does so."""
    words = ("--only-binary=:all:", "--no-deps", "--dest", str(place), "--requirement", str(ROOT / requirements))
    _pip(folder, f"pip-{Path(requirements).stem}", *words, verb="download")


def _pip(folder: Path, log: str, *words: str, verb: str = "install") -> None:
    pip = [folder / "bin" / "python", "-m", "pip", "--no-input", "--disable-pip-version-check"]
    argv = [*pip, verb, "--progress-bar=off", *_index(), *words]
    try:
        logged(log, argv, show_failure=False)
    except StepError as error:
        said = log_of(log).read_text(encoding="utf-8", errors="replace")
        if any(mark in said for mark in _UNREACHABLE):
            raise StepError(_how_to_go_on(log)) from error
        show_tail(log)
        raise


def _index() -> list[str]:
    """Return what makes pip take a folder of wheels for the index, where one is named."""
    wheelhouse = os.environ.get(WHEELHOUSE)
    if not wheelhouse:
        return ["--retries=2"]
    if not Path(wheelhouse).is_dir():
        raise StepError(f"--wheelhouse {wheelhouse}: there is no such folder")
    return ["--no-index", f"--find-links={wheelhouse}"]


def _how_to_go_on(log: str) -> str:
    """Return one line for a machine whose index of packages cannot be reached, or does not have what is pinned."""
    if os.environ.get(WHEELHOUSE):
        what = f"{os.environ[WHEELHOUSE]} lacks a wheel of the requirements"
    else:
        what = "no package index can be reached: name a mirror (PIP_INDEX_URL=https://...) or a folder of wheels"
    return f"{what} (make setup WHEELHOUSE=DIR), see docs/howto/offline.md; what pip said: {log_of(log)}"
