# SPDX-License-Identifier: Apache-2.0
"""Workload `loader` beside a bare C loop of the same calls (loader_loop.c), in pairs; and how well it keeps its pace.

Samples in files of their own, read in shuffled order from the page cache by threads, without computation: what the
engine adds to a read counts most there. The pace is that of cosmoflow on a device that answers at once.

python -m benchmarks.loader_pairs FOLDER [PAIRS [MIB [THREADS,...]]] [--engine PATH|PRESET]
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

# With the batches of resnet50 and cosmoflow; the middle one is of no preset.
BATCH_OF: Final = {114_664: 400, 1 << 20: 8, 2_828_488: 1}
TIMES: Final = 3  # of each side in each pair, of which the median counts
CALL: Final = 1 << 20
PACE_S: Final = 0.0035
_SOURCE: Final = Path(__file__).with_name("loader_loop.c")


def ullage(folder: Path, size: int, samples: int, threads: int) -> float:
    """Return the bytes/s of an epoch; what is read is not verified."""
    parameters: Parameters = {
        "samples": samples,
        "sample_bytes": size,
        "deviation_bytes": 0,
        "batch": BATCH_OF[size],
        "step_s": 0.0,
        "threads": threads,
        "transfer_bytes": CALL,
        "epochs": TIMES,
        "cache": "none",
        "verify": "none",
    }
    found = phases(f"posix:{folder}", Named(name="posix"), Named(name="loader", parameters=parameters))
    took = [record.elapsed_ns for record in found if record.access == "read"]
    return samples * size / (statistics.median(took) / 1e9)


def bare(program: Path, folder: Path, size: int, samples: int, threads: int) -> float:
    """Return the same of the loop."""
    window = max(2 * BATCH_OF[size], 2 * threads)
    words = [str(program), *map(str, (size, samples, CALL, threads, window, TIMES)), str(folder), str(BATCH_OF[size])]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    return samples * size / (statistics.median(map(int, told)) / 1e9)


def pace(steps: int) -> float:
    """Return the time of the steps of an accelerator that never waits, over what they should take."""
    parameters: Parameters = {
        "data": "none",
        "samples": steps + 1,
        "batch": 1,
        "step_s": PACE_S,
        "threads": 1,
        "epochs": 1,
        "cache": "none",
        "verify": "none",
    }
    (found,) = phases("null:", Named(name="null"), Named(name="loader", parameters=parameters))
    return found.gauges["run_s"].sum / found.gauges["compute_s"].sum


def main() -> None:
    """Print the table, then the paces."""
    words = dict(enumerate(arguments(), start=1))
    folder, pairs, mib = Path(words[1]).resolve(), int(words.get(2, "9")), int(words.get(3, "256"))
    print(f"{mpi_name()}\n")
    print("| what | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory(dir=folder) as here:
        program = Path(place) / "loader_loop"
        subprocess.run(["cc", "-O2", "-pthread", "-o", str(program), str(_SOURCE)], check=True)
        for size in BATCH_OF:
            for threads in map(int, words.get(4, "1,4").split(",")):
                job = (Path(here), size, max(1, (mib << 20) // size), threads)
                name = f"samples of {size:,} B, {threads} thread{'s' if threads > 1 else ''}"
                ratio = measure(partial(ullage, *job), partial(bare, program, *job), pairs)
                print(ratio.line(name, "GB/s", 1e9), flush=True)
    found = sorted(pace(300) for _ in range(pairs))
    print(f"\na step of {PACE_S} s takes {statistics.median(found):.4f} of that ({found[0]:.4f} to {found[-1]:.4f})")


if __name__ == "__main__":
    main()
