# SPDX-License-Identifier: Apache-2.0
"""Workload `metadata` beside a bare C loop of the same system calls, in pairs.

python -m benchmarks.metadata_pairs FOLDER [PAIRS [ITEMS]] [--engine PATH|PRESET]
"""

import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, mpi_name, phases
from ullage.model.plan import Named, Parameters

PHASES: Final = ["create", "stat", "read", "unlink"]
SOURCE: Final = Path(__file__).with_name("metadata_loop.c")
Seconds = dict[str, float]


def bare(program: Path, folder: Path, ranks: int, items: int, size: int) -> Seconds:
    """Elapsed times of the loop, from the first process's start to the last one's stop."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        words = [str(program), place, str(ranks), str(items), str(size)]
        told = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    return {phase: int(ns) / 1e9 for phase, ns in zip(PHASES, told, strict=True)}


def ullage(folder: Path, ranks: int, items: int, size: int) -> Seconds:
    """The same of the engine's transfer stage, whatever is in it."""
    parameters: Parameters = {
        "phases": ["tree-create", *PHASES, "tree-remove"],
        "items": items,
        "unique_directory": True,
        "write_bytes": size,
        "read_bytes": size,
    }
    records = phases(f"posix:{folder}", Named(name="posix"), Named(name="metadata", parameters=parameters), ranks)
    stages = {record.phase: record.stages["transfer"] for record in records}
    return {phase: (stage.last_stop_ns - stage.first_start_ns) / 1e9 for phase, stage in stages.items()}


def compare(program: Path, folder: Path, ranks: int, items: int, size: int, pairs: int) -> None:
    """Print the rows of one combination: rates, and the ratio of each pair."""
    ours, theirs = list[Seconds](), list[Seconds]()
    for i in range(pairs + 1):
        turns = [lambda: ours.append(ullage(folder, ranks, items, size))]
        turns.insert(i % 2, lambda: theirs.append(bare(program, folder, ranks, items, size)))
        for turn in turns:
            turn()
    for phase in PHASES:
        ratios = sorted(b[phase] / a[phase] for a, b in zip(ours[1:], theirs[1:], strict=True))
        rates = [ranks * items / statistics.median(side[phase] for side in sides[1:]) for sides in (ours, theirs)]
        spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
        name = f"{phase}, {size} B, {ranks} rank{'s' if ranks > 1 else ''}"
        print(
            f"| {name} | {rates[0]:,.0f}/s | {rates[1]:,.0f}/s | {statistics.median(ratios):.3f} | {spread} |",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    words = arguments()
    folder = Path(words[0]).resolve()
    pairs = int(words[1]) if len(words) > 1 else 5
    items = int(words[2]) if len(words) > 2 else 20_000
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "loop"
        subprocess.run(["cc", "-O2", "-pthread", "-o", str(program), str(SOURCE)], check=True)
        print(f"{mpi_name()}\n")
        print("| what | ullage | bare loop | ratio of rates | of all pairs |\n|---|---|---|---|---|")
        for ranks in (1, 2):
            for size in (0, 3901):
                compare(program, folder, ranks, items, size, pairs)


if __name__ == "__main__":
    main()
