# SPDX-License-Identifier: Apache-2.0
"""Workload `stepfile` beside a bare C loop of the same calls (step_loop.c), in pairs.

Files of states in a directory for each rank, and states in a log for each rank; written, and read in reverse order,
from the first open to the last close, without computation and without fsync.

python -m benchmarks.step_pairs FOLDER [PAIRS [MIB_A_RANK [RANKS,...]]] [--engine PATH|PRESET]
"""

import statistics
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, mpi_name, phases
from benchmarks.pairs import measure
from ullage.model.plan import Named, Parameters

SIZES: Final = (64 << 10, 1 << 20, 5_000_000)
LAYOUTS: Final = {"files": "dir-per-rank", "log": "log"}
PHASES: Final = ("forward", "adjoint")
TIMES: Final = 3  # of each side in each pair, of which the median counts
_SOURCE: Final = Path(__file__).with_name("step_loop.c")


def ullage(folder: Path, layout: str, size: int, steps: int, ranks: int, phase: str) -> float:
    """Return the bytes/s of that phase; what is read is not verified."""
    parameters: Parameters = {"steps": steps, "state_bytes": size, "layout": LAYOUTS[layout], "verify": "none"}
    found = phases(f"posix:{folder}", Named(name="posix"), Named(name="stepfile", parameters=parameters), ranks, TIMES)
    took = [record.elapsed_ns for record in found if record.phase == phase]
    return ranks * steps * size / (statistics.median(took) / 1e9)


def bare(program: Path, folder: Path, layout: str, size: int, steps: int, ranks: int, phase: str) -> float:
    """Return the same of the loop."""
    words = [str(program), layout, str(size), str(steps), str(TIMES), str(folder), str(ranks)]
    told = [int(line) for line in subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()]
    return ranks * steps * size / (statistics.median(told[PHASES.index(phase) :: 2]) / 1e9)


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs, mib = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "256"))
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = Path(place) / "step_loop"
        subprocess.run(["cc", "-O2", "-pthread", "-o", str(program), str(_SOURCE)], check=True)
        for layout in LAYOUTS:
            for size in SIZES:
                for ranks in map(int, words.get(4, "1,2").split(",")):
                    for phase in PHASES:
                        job = (Path(here), layout, size, max(1, (mib << 20) // size), ranks, phase)
                        name = f"{layout}, {phase}, {size:,} B, {ranks} rank{'s' if ranks > 1 else ''}"
                        ratio = measure(partial(ullage, *job), partial(bare, program, *job), pairs)
                        print(ratio.line(name, "GB/s", 1e9), flush=True)


if __name__ == "__main__":
    main()
