# SPDX-License-Identifier: Apache-2.0
"""``ullage doctor``: what of Ullage works here, and the one command that brings what does not."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import typer

from ullage.cli.options import EngineOption, JsonOption
from ullage.errors import EXIT_ENVIRONMENT, EXIT_OK, UserError
from ullage.readiness import Readiness

if TYPE_CHECKING:
    from pathlib import Path

    from ullage.model.describe import Describe, Devices

# What brings a thing that the engine lacks here, by its name in `ullage describe`.
_BRINGS: Final = {
    "hdf5": "module load hdf5 (a parallel one of this MPI), or apt-get install libhdf5-openmpi-103",
    "pmem": "apt-get install libpmem1, or dnf install libpmem",
    "devdax": "apt-get install libpmem1, or dnf install libpmem",
    "uring": "Linux 5.1 or later, with kernel.io_uring_disabled=0",
}
_AN_MPI: Final = "module load openmpi, mpich or the site's own; or pip install mpich beside ullage"
_A_BLAS: Final = "module load openblas or mkl, or pip install scipy-openblas32 beside ullage"


def doctor(*, engine: EngineOption = None, as_json: JsonOption = False) -> None:
    """Say what works here, and what brings the rest.

    It looks for the engine, MPI and its launcher, libraries, GPUs, rights, and tools for comparison. The exit code is 3
    where nothing can be measured.
    """
    from ullage.terminal import print_table

    found = list(_all(engine))
    if as_json:
        typer.echo(json.dumps([one._asdict() for one in found], indent=1))
    else:
        print_table(("part", "state", "found", "what brings it"), found)
    raise typer.Exit(EXIT_ENVIRONMENT if any(one.state == "needed" for one in found) else EXIT_OK)


def _all(engine: "Path | None") -> Iterator[Readiness]:
    from ullage.engine import describe, devices_of, find_engine
    from ullage.system.readiness import rights

    try:
        program = find_engine(engine)
        description = describe(program)
    except UserError as error:
        yield Readiness("engine", "needed", f"{error.where}: {error.what}", error.right)
    else:
        build = description.engine
        yield Readiness("engine", "ok", f"{build.version} ({build.git}), {program}")
        yield from _mpi(description)
        for thing in (*description.backends, *description.probes):
            if thing.available and thing.name in _BRINGS:
                yield Readiness(thing.name, "ok", "can be used")
            elif not thing.available:
                yield Readiness(
                    thing.name, "not here", thing.reason or "not in this build", _BRINGS.get(thing.name, "")
                )
        yield _accelerators(devices_of(program))
    yield _blas()
    yield from rights()
    yield _tools()


def _mpi(description: "Describe") -> Iterator[Readiness]:
    mpi = description.engine.mpi
    if mpi.family == "single":
        yield Readiness("MPI", "not here", "; ".join(_why_none(description)), _AN_MPI)
        yield Readiness("launcher", "ok", "none: one process, which measures all that needs no ranks")
        return
    yield Readiness("MPI", "ok", " - ".join(filter(None, (mpi.library, mpi.why))))
    yield _launcher(description)
    for abi in description.mpi.abis:
        if abi.reason is None and abi.library and abi.name != mpi.abi:
            yield Readiness(f"MPI {abi.name}", "ok", abi.library, f"ULLAGE_MPI={abi.name}, with its mpiexec on PATH")


def _why_none(description: "Describe") -> list[str]:
    reasons = [f"{abi.name}: {abi.reason}" for abi in description.mpi.abis if abi.reason]
    return list(filter(None, [description.engine.mpi.why, *reasons])) or ["this engine was built without MPI"]


def _launcher(description: "Describe") -> Readiness:
    from ullage.launch import choose_launcher

    try:
        launcher = choose_launcher(description)
    except UserError as error:
        return Readiness("launcher", "needed", error.what, error.right)
    return Readiness("launcher", "ok", f"{launcher.name}, {launcher.program}")


def _accelerators(found: "Devices") -> Readiness:
    """Tell which libraries show a device that `ullage run gpu` measures."""
    names = ", ".join(f"{device.id} {device.name}" for device in found.accelerators)
    if names:
        return Readiness("accelerator", "ok", names)
    return Readiness(
        "accelerator", "not here", found.why_none, "the driver of its vendor, and its OpenCL where not CUDA"
    )


def _blas() -> Readiness:
    from ullage.suites.cpu.libraries import find_libraries

    if not (libraries := find_libraries(None)):
        return Readiness("BLAS", "not here", "none found", _A_BLAS)
    return Readiness("BLAS", "ok", ", ".join(one.path for one in libraries))


def _tools() -> Readiness:
    from ullage.peers import load_peers

    here = {peer.name: peer.installed() for peer in load_peers().values()}
    absent = [name for name, program in here.items() if program is None]
    found = ", ".join(f"{name} {program.version}" for name, program in here.items() if program is not None)
    right = f"install {', '.join(absent)}, to compare with" if absent else ""
    return Readiness("other tools", "limited" if absent else "ok", found or "none", right)


VERBS = (doctor,)
