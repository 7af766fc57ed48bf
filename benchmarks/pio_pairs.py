# SPDX-License-Identifier: Apache-2.0
"""Strided patterns of workload `pio` beside a bare C loop of the same calls of MPI-IO (pio_loop.c), in pairs.

Through views, independent and collective; written, and read again from the page cache, from the first open to the last
close, without fsync.

python -m benchmarks.pio_pairs FOLDER [PAIRS [MIB_A_RANK [RANKS,...]]] [--engine PATH|PRESET]
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

SIZES: Final = (4 << 10, 64 << 10, 1 << 20)
PATTERNS: Final = {"simple": "simple-strided", "nested": "nested-strided", "random": "random-strided"}
CALLS: Final = {"alone": False, "together": True}
PHASES: Final = ("write", "read")
TIMES: Final = 3  # of each side in each pair, of which the median counts
INNER: Final = 4
_SOURCE: Final = Path(__file__).with_name("pio_loop.c")


def ullage(folder: Path, pattern: str, calls: str, size: int, requests: int, ranks: int, phase: str) -> float:
    """Return the bytes/s of that phase; nothing is synced, dropped or verified."""
    parameters: Parameters = {
        "pattern": PATTERNS[pattern],
        "phases": list(PHASES),
        "request_bytes": size,
        "requests": requests,
        "through": "view",
        "collective": CALLS[calls],
        "sync": False,
        "cache": "none",
        "verify": "none",
    }
    found = phases(f"posix:{folder}", Named(name="mpiio"), Named(name="pio", parameters=parameters), ranks, TIMES)
    took = [record.elapsed_ns for record in found if record.phase == phase]
    return ranks * requests * size / (statistics.median(took) / 1e9)


def bare(
    program: Path, folder: Path, pattern: str, calls: str, size: int, requests: int, ranks: int, phase: str
) -> float:
    """Return the same of the loop."""
    words = [pattern, calls, str(size), str(requests), str(TIMES), str(folder / "bare")]
    told = [int(line) for line in run_mpi(program, Layout(ranks=ranks), words).split()]
    return ranks * requests * size / (statistics.median(told[PHASES.index(phase) :: 2]) / 1e9)


def main() -> None:
    """Print the table."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs, mib = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "64"))
    all_ranks = [int(word) for word in words.get(4, "1,2").split(",")]
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = Path(place) / "pio_loop"
        build_mpi(_SOURCE, program)
        for pattern, calls, size, ranks, phase in product(PATTERNS, CALLS, SIZES, all_ranks, PHASES):
            requests = max(1, (mib << 20) // size // INNER) * INNER
            job = (Path(here), pattern, calls, size, requests, ranks, phase)
            name = f"{pattern}, {calls}, {phase}, {size:,} B, {ranks} rank{'s' if ranks > 1 else ''}"
            ratio = measure(partial(ullage, *job), partial(bare, program, *job), pairs)
            print(ratio.line(name, "GB/s", 1e9), flush=True)


if __name__ == "__main__":
    main()
