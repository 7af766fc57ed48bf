# SPDX-License-Identifier: Apache-2.0
"""Workload `tile` beside a bare MPI-IO loop of the same calls (tile_loop.c), in pairs.

Frames of 2 x 1 and of 3 x 2 tiles, collective and independent, written with one sync and read, from the first open to
the last close; what is read is not verified. Tiles that have no core each are left out: ranks that wait for a core
measure the scheduler.

python -m benchmarks.tile_pairs FOLDER [PAIRS [FRAMES]] [--engine PATH|PRESET]
"""

import os
import statistics
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, build_mpi, mpi_name, phases, run_mpi
from benchmarks.pairs import measure
from ullage.model.plan import Layout, Named, Parameters

# Tiles along x and y, elements of a tile, overlap, bytes of an element.
CASES: Final = {
    "2x1 of 1024x1024x16 B": (2, 1, 1024, 1024, 16, 8, 16),
    "2x1 of 1024x768x3 B": (2, 1, 1024, 768, 270, 128, 3),
    "3x2 of 1024x768x3 B": (3, 2, 1024, 768, 270, 128, 3),
}
CALLS: Final = ("collective", "independent")
PHASES: Final = ("write", "read")
TIMES: Final = 3  # of each side in each pair, of which the median counts
_SOURCE: Final = Path(__file__).with_name("tile_loop.c")
_NAMES: Final = ("tiles_x", "tiles_y", "tile_x", "tile_y", "overlap_x", "overlap_y", "element_bytes")
_ENOUGH: Final = 1 << 30


def _layout(sizes: tuple[int, ...]) -> Layout:
    ranks = sizes[0] * sizes[1]
    return Layout(ranks=ranks, nodes=1, ranks_per_node=ranks)


def ullage(folder: Path, sizes: tuple[int, ...], calls: str, frames: int, phase: str) -> float:
    """Return the frames a second of that phase."""
    parameters: Parameters = {
        **dict(zip(_NAMES, sizes, strict=True)),
        "calls": calls,
        "frames": frames,
        "buffers": _ENOUGH,
        "verify": "none",
    }
    workload = Named(name="tile", parameters=parameters)
    found = phases(f"posix:{folder}", Named(name="mpiio"), workload, repetitions=TIMES, layout=_layout(sizes))
    return frames / (statistics.median(one.elapsed_ns for one in found if one.phase == phase) / 1e9)


def bare(program: Path, folder: Path, sizes: tuple[int, ...], calls: str, frames: int, phase: str) -> float:
    """Return the same of the loop."""
    words = [calls, str(folder / "bare"), *map(str, sizes), str(frames), str(TIMES)]
    told = [float(line) for line in run_mpi(program, _layout(sizes), words).split()]
    return frames / statistics.median(told[PHASES.index(phase) :: len(PHASES)])


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs, frames = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "16"))
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = Path(place) / "tile_loop"
        build_mpi(_SOURCE, program)
        cores = len(os.sched_getaffinity(0))
        for name, sizes in ((name, sizes) for name, sizes in CASES.items() if sizes[0] * sizes[1] <= cores):
            for calls in CALLS:
                for phase in PHASES:
                    job = (Path(here), sizes, calls, frames, phase)
                    ratio = measure(partial(ullage, *job), partial(bare, program, *job), pairs)
                    print(ratio.line(f"{name}, {calls}, {phase}", "frame/s"), flush=True)


if __name__ == "__main__":
    main()
