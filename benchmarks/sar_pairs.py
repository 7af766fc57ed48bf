# SPDX-License-Identifier: Apache-2.0
"""Workload `sar` beside a bare C loop of the same calls (sar_loop.c), in pairs.

Kernels K1 to K4 on images in files and in containers, from the first open to the last close, without sync and without
verification. Images have a half and the whole of the published sides.

python -m benchmarks.sar_pairs FOLDER [PAIRS [RANKS,...]] [--engine PATH|PRESET]
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
from ullage.runs.options.engine import values_of
from ullage.suites.sar.suite import KERNELS, scaled

SCALES: Final = (0.5, 1.0)
LAYOUTS: Final = ("files", "containers")
TIMES: Final = 3  # of each side in each pair, of which the median counts
GRID: Final = 8
DEPTH: Final = 3
_SOURCE: Final = Path(__file__).with_name("sar_loop.c")


def ullage(folder: Path, layout: str, scale: float, ranks: int, kernel: str) -> float:
    """Return the images a second of that kernel, of all that the pipeline has."""
    parameters: Parameters = {
        **scaled(scale),
        "grid": GRID,
        "depth": DEPTH,
        "layout": layout,
        "sync": "none",
        "verify": "none",
    }
    found = phases(f"posix:{folder}", Named(name="posix"), Named(name="sar", parameters=parameters), ranks, TIMES)
    took = [record.elapsed_ns for record in found if record.phase == kernel]
    return GRID**2 * DEPTH / (statistics.median(took) / 1e9)


def bare(program: Path, folder: Path, layout: str, scale: float, ranks: int, kernel: str) -> float:
    """Return the same of the loop."""
    values = values_of("sar", {**scaled(scale), "grid": GRID, "depth": DEPTH})
    sizes = ("rows", "columns", "raw_columns", "grid", "depth", "subimages", "subimage_side", "templates")
    words = [str(program), layout, *(values.word(name) for name in sizes), str(TIMES), str(folder), str(ranks)]
    told = [int(line) for line in subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()]
    return GRID**2 * DEPTH / (statistics.median(told[KERNELS.index(kernel) :: len(KERNELS)]) / 1e9)


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs = Path(words[1]).resolve(), int(words.get(2, "9"))
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = Path(place) / "sar_loop"
        subprocess.run(["cc", "-O2", "-pthread", "-o", str(program), str(_SOURCE)], check=True)
        for layout in LAYOUTS:
            for scale in SCALES:
                for ranks in map(int, words.get(3, "1").split(",")):
                    for kernel in KERNELS:
                        job = (Path(here), layout, scale, ranks, kernel)
                        name = f"{layout}, {kernel.upper()}, scale {scale:g}, {ranks} rank{'s' if ranks > 1 else ''}"
                        ratio = measure(partial(ullage, *job), partial(bare, program, *job), pairs)
                        print(ratio.line(name, "image/s"), flush=True)


if __name__ == "__main__":
    main()
