# SPDX-License-Identifier: Apache-2.0
"""Sets up this checkout for ``run``, ``lint``, ``test`` (one MPI) or ``all`` tests: each adds to those before it.

Afterwards .venv/bin/ullage and .venv/bin/ullage-engine are there. Idempotent; quick when there is nothing to do.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from steps import engine, legs, mpi, packages, prebuilt, python_env, tools
from steps.process import ROOT, StepError, say
from steps.stamp import Stamps, digest


def inputs() -> str:
    """Return the digest of all that a set-up depends on."""
    names = ["pyproject.toml", "packages.txt", "CMakePresets.json", "scripts/setup.py"]
    files = [ROOT / name for name in names]
    facts = {
        "python": f"{sys.executable} {sys.version}",
        "checkout": str(ROOT),
        "mpi": f"{mpi.wanted_source()} {mpi.mpicxx_on_path()}",
        "compiler": f"{os.environ.get('CXX')} {tools.program('ccache')}",
    }
    return digest([*files, *ROOT.glob("requirements*.txt"), *Path(__file__).parent.glob("steps/*.py")], facts)


def prepare_run() -> None:
    """Make .venv with ullage in it and configure the engine with the MPI there is.

    A compiler cannot be had as a wheel: without one nothing is installed.
    """
    tools.compiler()
    _prepare_front()
    tools.ensure_build_tools()
    chosen = mpi.choose()
    say(f"MPI: preset {chosen.preset}, because {chosen.why}")
    engine.configure(chosen.preset, chosen)
    engine.link(chosen.preset)


def _prepare_front() -> None:
    python_env.ensure_venv(python_env.VENV)
    python_env.install(python_env.VENV, "requirements.txt")
    python_env.install_optional(
        python_env.VENV, "requirements-blas.txt", "no BLAS of our own: only the machine's is there"
    )
    python_env.install_ullage()


def prepare_prebuilt(wheel: Path) -> None:
    """Make .venv with ullage in it, take the engine of ``wheel``, and an MPI as a wheel where there is none."""
    _prepare_front()
    if shutil.which("mpiexec") is None:
        python_env.install_optional(python_env.VENV, "requirements-mpich.txt", "no MPI: one process measures")
    prebuilt.unpack(wheel)


def prepare_lint() -> None:
    """Install what checks style and types, and pytest with it."""
    python_env.install(python_env.VENV, "requirements-dev.txt")
    tools.ensure_node()


def prepare_test() -> None:
    """Install the programs that tests use, and let the engine's build find GoogleTest."""
    packages.ensure("test")
    python_env.ensure_venv(python_env.VENV_GUESTS)
    lost = "the tests that plug Ullage into ReFrame and Grafana are skipped"
    python_env.install_optional(python_env.VENV_GUESTS, "requirements-guests.txt", lost)
    engine.configure(engine.linked())


def prepare_ci() -> None:
    """Install the second MPI and configure the legs that CI builds with it."""
    mpi.ensure_wheel()
    for leg in legs.shorter():
        engine.configure(leg.preset)


def prepare_all() -> None:
    """Configure the legs that CI has no time for."""
    for leg in legs.further():
        if leg not in legs.shorter():
            engine.configure(leg.preset)


def may_write() -> bool:
    """Tell whether this user may change the checkout."""
    return os.access(ROOT, os.W_OK)


def used() -> list[str]:
    """Return the preset in use, or nothing before there is one."""
    return [engine.linked()] if engine.is_linked() else []


# Each profile has a function and the presets that it configures; each begins where the one before it ends.
PROFILES: dict[str, tuple[Callable[[], None], Callable[[], list[str]]]] = {
    "run": (prepare_run, used),
    "lint": (prepare_lint, used),
    "test": (prepare_test, used),
    "ci": (prepare_ci, lambda: [leg.preset for leg in legs.shorter()]),
    "all": (prepare_all, lambda: [leg.preset for leg in legs.further()]),
}


def main(profile: str) -> None:
    """Set up for ``profile``; raise StepError when that cannot be done.

    A checkout that may only be read, and is set up, is taken as it is.
    """
    started = time.monotonic()
    stamps = Stamps(python_env.VENV / "ullage-setup.json")
    current = inputs()
    names = list(PROFILES)[: list(PROFILES).index(profile) + 1]
    # An engine that was built here is newer than any wheel; tests need one.
    is_free = profile == "run" and (prebuilt.is_linked() or not engine.is_linked())
    if is_free and (wheel := prebuilt.find()):
        _set_up_prebuilt(wheel, stamps, current, started)
        return
    prepared = True
    for name in names:
        prepare, presets = PROFILES[name]
        is_built = engine.is_linked() and not prebuilt.is_linked() and engine.configured(presets())
        prepared = prepared and stamps.matches(name, current) and is_built
        if not prepared:
            prepare()
    if not prepared:
        # The inputs are read again, because what was installed just now is among them.
        stamps.finish(inputs(), *names)
    if may_write():
        build = engine.build_tests if "test" in names else engine.build_engine
        build(engine.linked())
    say(f"set up{' already' if prepared else ''} ({time.monotonic() - started:.1f} s)")


def _set_up_prebuilt(wheel: Path, stamps: Stamps, current: str, started: float) -> None:
    made_of = prebuilt.sources()
    prepared = prebuilt.is_linked() and stamps.matches(prebuilt.PRESET, f"{current} {made_of}")
    if not prepared:
        prepare_prebuilt(wheel)
        stamps.finish(f"{inputs()} {made_of}", prebuilt.PRESET)
    say(f"set up{' already' if prepared else ''} ({time.monotonic() - started:.1f} s)")


def command(arguments: Sequence[str]) -> None:
    """Do what the command line says; whatever prevents it is one line."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("profile", choices=list(PROFILES))
    asked.add_argument("--wheelhouse", type=Path, help="folder of wheels to install from, without a network")
    words = asked.parse_args(arguments)
    if words.wheelhouse is not None:
        os.environ[python_env.WHEELHOUSE] = str(words.wheelhouse.absolute())
    try:
        main(words.profile)
    except StepError as failure:
        sys.exit(f"ullage set-up: {failure}")
    except OSError as failure:
        what = failure.strerror or type(failure).__name__
        sys.exit(
            f"ullage set-up: {failure.filename or ROOT}: {what}; a checkout is set up by a user who may write to it"
        )


if __name__ == "__main__":
    command(sys.argv[1:])
