# SPDX-License-Identifier: Apache-2.0
"""One case on the real engine, and its phase records; bare MPI programs built and started by the same MPI.

Every benchmark of pairs takes ``--engine PATH``, or ``--engine PRESET`` for build/PRESET/ullage-engine, so that its
pairs run with that engine's MPI on both sides.
"""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ullage.engine import describe, find_engine
from ullage.launch import choose_launcher
from ullage.model.plan import Case, Layout, Limits, Named, Parameters, Plan, Target
from ullage.model.record import PhaseRecord
from ullage.results.records import read_records


def arguments() -> list[str]:
    """The words of the command line without ``--engine``, which all launches then follow."""
    words = sys.argv[1:]
    if "--engine" not in words:
        return words
    at = words.index("--engine")
    if at + 1 == len(words):
        raise SystemExit("--engine needs the path of an engine, or a preset that was built")
    built = Path(__file__).parents[1] / "build" / words[at + 1] / "ullage-engine"
    os.environ["ULLAGE_ENGINE"] = str(built if built.is_file() else words[at + 1])
    return [*words[:at], *words[at + 2 :]]


def mpi_name() -> str:
    """The MPI of the engine in use, with its version."""
    return describe(find_engine()).engine.mpi.library.split(",")[0].split("\n")[0].strip()


def build_mpi(source: Path, program: Path, *options: str) -> None:
    """Compile a bare C program by the compiler that belongs to the engine's MPI."""
    stated = describe(find_engine()).engine.mpi.mpiexec
    beside = Path(stated).with_name("mpicc") if stated else None
    compiler = str(beside) if beside is not None and beside.is_file() else "mpicc"
    subprocess.run([compiler, "-O2", "-o", str(program), str(source), *options], check=True)


def hdf5_flags() -> list[str]:
    """Return the flags that build with parallel HDF5, as its package says; an error where it is not installed."""
    tool = shutil.which("pkg-config")
    if tool is None:
        raise SystemExit("pkg-config is needed to find HDF5")
    done = subprocess.run([tool, "--cflags", "--libs", "hdf5-openmpi"], capture_output=True, text=True, check=True)
    return ["-DWITH_HDF5", *done.stdout.split()]


def run_mpi(program: Path, layout: Layout, words: Sequence[str]) -> str:
    """What a bare program prints, started as the engine would be."""
    launcher = choose_launcher(describe(find_engine()))
    argv = launcher.argv(program, Path("plan"), layout)
    environment = {**os.environ, **launcher.environment(layout)}
    started = [*argv[: argv.index(str(program)) + 1], *words]
    return subprocess.run(started, check=True, env=environment, capture_output=True, text=True).stdout


def loop_times(program: Path, ranks: int, words: Sequence[str]) -> list[int]:
    """Return the ns that a bare program prints, a line each, on ``ranks`` of this node."""
    layout = Layout(ranks=ranks, nodes=1, ranks_per_node=ranks)
    return [int(line) for line in run_mpi(program, layout, words).split()]


def plan_of(
    uri: str, backend: Named, workload: Parameters | Named, layout: Layout, records: Path, repetitions: int = 1
) -> Plan:
    """A plan of one case; of workload transfer where only parameters are given."""
    named = workload if isinstance(workload, Named) else Named(name="transfer", parameters=workload)
    return Plan(
        run_id="bench-" + secrets.token_hex(4),
        suite="benchmark",
        records=str(records),
        layout=layout,
        targets=[Target(name="t", uri=uri)],
        stop_rule=Named(name="fixed", parameters={"count": repetitions}),
        limits=Limits(space_fraction=0.9),
        cases=[Case(id=secrets.token_hex(8), target="t", backend=backend, workload=named)],
    )


def phases(
    uri: str,
    backend: Named,
    workload: Parameters | Named,
    ranks: int = 1,
    repetitions: int = 1,
    layout: Layout | None = None,
) -> list[PhaseRecord]:
    """Run the case on so many ranks, or by ``layout``, and return its phases; a failure is an error."""
    return run_plan(plan_of(uri, backend, workload, layout or Layout(ranks=ranks), Path(), repetitions))


def run_plan(plan: Plan) -> list[PhaseRecord]:
    """Run a plan, whose records go where they are forgotten, and return its phases; a failure is an error."""
    engine = find_engine()
    launcher = choose_launcher(describe(engine))
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records.ndjson"
        path = Path(folder) / "plan.json"
        path.write_text(plan.model_copy(update={"records": str(records)}).model_dump_json(by_alias=True))
        environment = {**os.environ, **launcher.environment(plan.layout)}
        words = launcher.argv(engine, path, plan.layout)
        done = subprocess.run(words, check=False, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return read_records(records).phases
