# SPDX-License-Identifier: Apache-2.0
"""Workload `flash` in the raw format beside a bare MPI-IO loop of the same calls (flash_loop.c), in pairs.

A checkpoint, written with its sync and read again, from the first open to the last close; what is read is not verified.

python -m benchmarks.flash_pairs FOLDER [PAIRS [RANKS [CELLS,...]]] [--engine PATH|PRESET]
"""

import statistics
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, build_mpi, mpi_name, phases, run_mpi
from benchmarks.pairs import measure
from ullage.model.plan import Layout, Named, Parameters
from ullage.suites.flash.formula import data_bytes

PHASES: Final = ("write", "read")
ACCESSES: Final = ("independent", "collective")
BLOCKS: Final = 80
TIMES: Final = 3  # of each side in each pair, of which the median counts
_SOURCE: Final = Path(__file__).with_name("flash_loop.c")


def ullage(folder: Path, access: str, cells: int, ranks: int, phase: str) -> float:
    """Return the bytes/s of that phase."""
    parameters: Parameters = {"cells": cells, "blocks": BLOCKS, "verify": "none"}
    backend = Named(name="mpiio", parameters={"collective": access == "collective"})
    found = phases(f"posix:{folder}", backend, Named(name="flash", parameters=parameters), ranks, TIMES)
    took = [record.elapsed_ns for record in found if record.phase == phase]
    return data_bytes("checkpoint", cells, ranks * BLOCKS) / (statistics.median(took) / 1e9)


def bare(program: Path, folder: Path, access: str, cells: int, ranks: int, phase: str) -> float:
    """Return the same of the loop."""
    words = [access, str(cells), str(BLOCKS), str(TIMES), str(folder / "flash")]
    told = [int(line) for line in run_mpi(program, Layout(ranks=ranks, nodes=1, ranks_per_node=ranks), words).split()]
    took = told[PHASES.index(phase) :: 2]
    return data_bytes("checkpoint", cells, ranks * BLOCKS) / (statistics.median(took) / 1e9)


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs, ranks = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "2"))
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = Path(place) / "flash_loop"
        build_mpi(_SOURCE, program)
        for cells in map(int, words.get(4, "8,16").split(",")):
            for access in ACCESSES:
                for phase in PHASES:
                    ours = partial(ullage, Path(here), access, cells, ranks, phase)
                    theirs = partial(bare, program, Path(here), access, cells, ranks, phase)
                    name = f"checkpoint {cells}^3, {access}, {phase}, {ranks} ranks"
                    print(measure(ours, theirs, pairs).line(name, "GB/s", 1e9), flush=True)


if __name__ == "__main__":
    main()
