# SPDX-License-Identifier: Apache-2.0
"""Workload `overlap` beside a bare C loop of the same calls and the same computation (overlap_loop.c), in pairs.

Time of the stretches in which transfers go on beside the computation, by helper threads, MPI-IO and io_uring, through
the page cache.

python -m benchmarks.overlap_pairs FOLDER [PAIRS [MIB_A_STRETCH]] [--engine PATH|PRESET]
"""

import statistics
import tempfile
from functools import partial
from itertools import product
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, build_mpi, mpi_name, phases, run_mpi
from benchmarks.pairs import measure
from ullage.model.plan import Layout, Named, Parameters

# Each with the backend and the method that make the same calls.
WAYS: Final = {"threads": ("posix", "threads"), "mpi": ("mpiio", "nonblocking"), "uring": ("uring", "nonblocking")}
SIZES: Final = (64 << 10, 1 << 20)
DEPTHS: Final = (1, 4)
PHASES: Final = ("write", "read")
ROUNDS: Final = 4
TIMES: Final = 3  # of each side in each pair, of which the median counts
# Each piece has 16 additions; that takes about as long as a transfer from memory.
_BLOCKS_A_MIB: Final = 60_000
_BOTH: Final = 2  # the place of the stretch among those that the loop prints
_KINDS: Final = 4
_SOURCE: Final = Path(__file__).with_name("overlap_loop.c")


def _layout() -> Layout:
    return Layout(ranks=1, threads=2, binding="core")


def blocks_of(size: int, depth: int) -> int:
    """Return the fixed work of a batch."""
    return max(1, _BLOCKS_A_MIB * size * depth >> 20)


def ullage(folder: Path, way: str, size: int, depth: int, batches: int, phase: str) -> float:
    """Return the bytes/s of both at once; what is read is not verified."""
    backend, method = WAYS[way]
    parameters: Parameters = {
        "method": method,
        "transfer_bytes": size,
        "depth": depth,
        "batches": batches,
        "rounds": ROUNDS,
        "blocks": blocks_of(size, depth),
        "sync": False,
        "verify": "none",
    }
    workload = Named(name="overlap", parameters=parameters)
    found = phases(f"posix:{folder}", Named(name=backend), workload, 1, TIMES, _layout())
    took = [record.gauges["both_s"].most for record in found if record.phase == phase]
    return ROUNDS * batches * depth * size / statistics.median(took)


def bare(program: Path, folder: Path, way: str, size: int, depth: int, batches: int, phase: str) -> float:
    """Return the same of the loop."""
    numbers = (size, depth, batches, ROUNDS, blocks_of(size, depth))
    words = [way, *map(str, numbers), str(folder / "bare")]
    took: list[int] = []
    for _ in range(TIMES):
        told = [int(line) for line in run_mpi(program, _layout(), words).split()]
        took.append(told[PHASES.index(phase) * _KINDS + _BOTH])
    return ROUNDS * batches * depth * size / (statistics.median(took) / 1e9)


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs, mib = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "32"))
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = Path(place) / "overlap_loop"
        build_mpi(_SOURCE, program, "-pthread")
        for way, size, depth, phase in product(WAYS, SIZES, DEPTHS, PHASES):
            job = (Path(here), way, size, depth, max(1, (mib << 20) // (size * depth)), phase)
            name = f"{way}, {phase}, {depth} x {size:,} B"
            ratio = measure(partial(ullage, *job), partial(bare, program, *job), pairs)
            print(ratio.line(name, "GB/s", 1e9), flush=True)


if __name__ == "__main__":
    main()
