# SPDX-License-Identifier: Apache-2.0
"""Sets up this checkout: ``setup.py run`` what `make run` needs, ``setup.py test`` also what the tests need.

Afterwards .venv/bin/ullage and .venv/bin/ullage-engine are there. Idempotent; quick when there is nothing to do.
"""

import os
import sys
import time
from pathlib import Path

from steps import engine, mpi, packages, python_env, tools
from steps.process import ROOT, StepError, say
from steps.stamp import Stamps, digest


def inputs() -> str:
    """Return the digest of all that a set-up depends on."""
    names = ["pyproject.toml", "packages.txt", "CMakePresets.json", "scripts/setup.py"]
    files = [ROOT / name for name in names]
    facts = {
        "python": f"{sys.executable} {sys.version}",
        "checkout": str(ROOT),
        "mpi": f"{mpi.wanted_road()} {mpi.mpicxx_on_path()}",
        "compiler": f"{os.environ.get('CXX')} {tools.program('ccache')}",
    }
    return digest([*files, *ROOT.glob("requirements*.txt"), *Path(__file__).parent.glob("steps/*.py")], facts)


def prepare_run() -> None:
    """Make .venv with ullage in it and configure the engine with the MPI there is."""
    python_env.ensure_venv(python_env.VENV)
    python_env.install(python_env.VENV, "requirements.txt")
    python_env.install_optional(
        python_env.VENV, "requirements-blas.txt", "no BLAS of our own: only the machine's is there"
    )
    python_env.install_ullage()
    tools.ensure_build_tools()
    chosen = mpi.choose()
    say(f"MPI: preset {chosen.preset}, because {chosen.why}")
    engine.configure(chosen.preset, chosen)
    engine.link(chosen.preset)


def prepare_test() -> None:
    """Install the tests' own tools and configure the engine's other legs."""
    packages.ensure("test")
    python_env.install(python_env.VENV, "requirements-dev.txt")
    tools.ensure_node()
    mpi.ensure_wheel()
    for preset in engine.legs():
        engine.configure(preset)


def main(profile: str) -> None:
    """Set up for ``run`` or ``test``. Raises StepError."""
    started = time.monotonic()
    stamps = Stamps(python_env.VENV / "ullage-setup.json")
    current = inputs()
    prepared = stamps.matches("run", current) and engine.is_linked() and engine.configured([engine.linked()])
    if not prepared:
        prepare_run()
    if profile == "test" and not (prepared and stamps.matches("test", current) and engine.configured(engine.legs())):
        prepare_test()
        prepared = False
    if not prepared:
        # Asked again: what was installed just now is among the inputs.
        stamps.finish(inputs(), *(["run", "test"] if profile == "test" else ["run"]))
    engine.build(engine.linked(), "ullage-engine")
    say(f"set up{' already' if prepared else ''} ({time.monotonic() - started:.1f} s)")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except StepError as failure:
        sys.exit(f"ullage set-up: {failure}")
