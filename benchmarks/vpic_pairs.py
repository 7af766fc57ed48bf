# SPDX-License-Identifier: Apache-2.0
"""Workload `vpic` beside a bare loop of the same calls of MPI-IO or HDF5 (vpic_loop.c), in pairs.

Particles are written with their sync, and the next rank's are read again, from the first open to the last close. There
is no computation, and what is read is not verified.

python -m benchmarks.vpic_pairs FOLDER [PAIRS [RANKS [PARTICLES [raw|hdf5 [LAYOUT,...]]]]] [--engine PATH|PRESET]
"""

import statistics
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, build_mpi, hdf5_flags, loop_times, mpi_name, phases
from benchmarks.pairs import measure
from ullage.model.plan import Named, Parameters
from ullage.runs.cells.backends import BACKENDS
from ullage.runs.particles.suite import LAYOUTS, PARTICLE_BYTES

ACCESSES: Final = ("independent", "collective")
PHASES: Final = ("write", "read")
STEPS: Final = 3
TIMES: Final = 3  # of each side in each pair, of which the median counts
_SOURCE: Final = Path(__file__).with_name("vpic_loop.c")


@dataclass(frozen=True)
class Work:
    """What both sides do."""

    folder: Path
    form: str
    layout: str
    access: str
    particles: int
    ranks: int
    phase: str

    def rate(self, took_ns: list[int]) -> float:
        """Return the bytes/s of the median."""
        return self.ranks * STEPS * self.particles * PARTICLE_BYTES / (statistics.median(took_ns) / 1e9)


def ullage(work: Work) -> float:
    """Return the bytes/s of that phase."""
    memory, file = LAYOUTS[work.layout]
    parameters: Parameters = {
        "particles": work.particles,
        "steps": STEPS,
        "memory": memory,
        "file": file,
        "format": "raw" if work.form == "raw" else "arrays",
        "verify": "none",
    }
    backend = Named(name=BACKENDS[work.form], parameters={"collective": work.access == "collective"})
    found = phases(f"posix:{work.folder}", backend, Named(name="vpic", parameters=parameters), work.ranks, TIMES)
    return work.rate([record.elapsed_ns for record in found if record.phase == work.phase])


def bare(program: Path, work: Work) -> float:
    """Return the same of the loop."""
    words = [work.layout, work.access, str(work.particles), str(STEPS), str(TIMES), str(work.folder / "vpic")]
    return work.rate(loop_times(program, work.ranks, words)[PHASES.index(work.phase) :: 2])


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs, ranks = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "2"))
    particles, form = int(words.get(4, str(1 << 20))), words.get(5, "raw")
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = Path(place) / "vpic_loop"
        build_mpi(_SOURCE, program, *(hdf5_flags() if form == "hdf5" else []))
        for layout in words.get(6, ",".join(LAYOUTS)).split(","):
            for access in ACCESSES:
                for phase in PHASES:
                    work = Work(Path(here), form, layout, access, particles, ranks, phase)
                    found = measure(partial(ullage, work), partial(bare, program, work), pairs)
                    print(found.line(f"{form} {layout}, {access}, {phase}", "GB/s", 1e9), flush=True)


if __name__ == "__main__":
    main()
