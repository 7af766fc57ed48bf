# SPDX-License-Identifier: Apache-2.0
"""Workload `flash` beside a bare loop of the same calls of MPI-IO or HDF5 (flash_loop.c), in pairs.

A checkpoint and a plot file, written with their sync and read again, from the first open to the last close. The loop
compares what it read with what it wrote, outside the time; Ullage does so with --verify.

python -m benchmarks.flash_pairs FOLDER [PAIRS [RANKS [CELLS,... [raw|hdf5,... [FILE,...]]]]] [--verify]
    [--engine PATH|PRESET]
"""

import statistics
import tempfile
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, build_mpi, hdf5_flags, loop_times, mpi_name, phases
from benchmarks.pairs import measure
from ullage.model.plan import Named, Parameters
from ullage.runs.cells.backends import BACKENDS
from ullage.suites.flash.suite import block_of_array_bytes

PHASES: Final = ("write", "read")
ACCESSES: Final = ("independent", "collective")
UNKNOWNS: Final = {"checkpoint": 24, "plot-centred": 4}
BLOCKS: Final = 80
TIMES: Final = 3  # of each side in each pair, of which the median counts
_SOURCE: Final = Path(__file__).with_name("flash_loop.c")


@dataclass(frozen=True)
class Work:
    """What both sides do."""

    folder: Path
    form: str
    file: str
    access: str
    cells: int
    ranks: int
    phase: str
    verifies: bool

    def rate(self, took_ns: list[int]) -> float:
        """Return the bytes/s of the median."""
        # A block is described by 17 integers and 12 reals, and has one value in each array of unknowns.
        reals = 12 * (8 if self.file == "checkpoint" else 4)
        unknowns = UNKNOWNS[self.file] * block_of_array_bytes(self.file, self.cells)
        return self.ranks * BLOCKS * (17 * 4 + reals + unknowns) / (statistics.median(took_ns) / 1e9)


def ullage(work: Work) -> float:
    """Return the bytes/s of that phase."""
    parameters: Parameters = {
        "file": work.file,
        "cells": work.cells,
        "blocks": BLOCKS,
        "format": "raw" if work.form == "raw" else "arrays",
        "verify": "full" if work.verifies else "none",
    }
    backend = Named(name=BACKENDS[work.form], parameters={"collective": work.access == "collective"})
    found = phases(f"posix:{work.folder}", backend, Named(name="flash", parameters=parameters), work.ranks, TIMES)
    return work.rate([record.elapsed_ns for record in found if record.phase == work.phase])


def bare(program: Path, work: Work) -> float:
    """Return the same of the loop."""
    words = [work.file, work.access, str(work.cells), str(BLOCKS), str(TIMES), str(work.folder / "flash")]
    return work.rate(loop_times(program, work.ranks, words)[PHASES.index(work.phase) :: 2])


def main() -> None:
    """Print the table."""
    given = arguments()
    words = dict(enumerate([word for word in given if word != "--verify"], start=1))
    folder, pairs, ranks = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "2"))
    cells, forms = map(int, words.get(4, "8,16").split(",")), words.get(5, "raw").split(",")
    files = words.get(6, ",".join(UNKNOWNS)).split(",")
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        programs = {form: Path(place) / f"flash_loop_{form}" for form in forms}
        for form, program in programs.items():
            build_mpi(_SOURCE, program, *(hdf5_flags() if form == "hdf5" else []))
        for form, file, side, access, phase in product(forms, files, cells, ACCESSES, PHASES):
            work = Work(Path(here), form, file, access, side, ranks, phase, "--verify" in given)
            found = measure(partial(ullage, work), partial(bare, programs[form], work), pairs)
            name = f"{form} {file} {side}^3, {access}, {phase}, {ranks} ranks"
            print(found.line(name, "GB/s", 1e9), flush=True)


if __name__ == "__main__":
    main()
