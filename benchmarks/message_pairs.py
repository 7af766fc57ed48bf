# SPDX-License-Identifier: Apache-2.0
"""Workloads `ping-pong` and `ring` beside a bare MPI loop of the same calls, in pairs, on two bound ranks.

python -m benchmarks.message_pairs [PAIRS] [--engine PATH|PRESET]
"""

import statistics
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, build_mpi, mpi_name, phases, run_mpi
from ullage.model.plan import Layout, Named, Parameters

SOURCE: Final = Path(__file__).with_name("message_loops.c")
LAYOUT: Final = Layout(ranks=2, nodes=1, ranks_per_node=2, binding="core")
# What HPCC does: bytes, loops and measurements of latency and of bandwidth.
JOBS: Final = ((8, 8, 200), (2_000_000, 3, 20))
GAUGES: Final = {"ping-pong": "mean_one_way_s", "ring": "ring_s"}


def bare(program: Path, kind: str, size: int, loops: int, measurements: int) -> float:
    """Seconds of one message."""
    return float(run_mpi(program, LAYOUT, [kind, str(size), str(loops), str(measurements)]))


def ullage(kind: str, size: int, loops: int, measurements: int) -> float:
    """The same of the workload."""
    parameters: Parameters = {"message_bytes": size, "loops": loops, "measurements": measurements}
    (phase,) = phases("mpi:", Named(name="null"), Named(name=kind, parameters=parameters), layout=LAYOUT)
    return phase.gauges[GAUGES[kind]].most


def compare(program: Path, kind: str, job: tuple[int, int, int], pairs: int) -> None:
    """Print the row of one kind and size: times, and the ratio of each pair."""
    ours, theirs = list[float](), list[float]()
    for i in range(pairs + 1):
        turns = [lambda: ours.append(ullage(kind, *job))]
        turns.insert(i % 2, lambda: theirs.append(bare(program, kind, *job)))
        for turn in turns:
            turn()
    ratios = sorted(a / b for a, b in zip(ours[1:], theirs[1:], strict=True))
    medians = [f"{statistics.median(side[1:]) * 1e9:,.0f} ns" for side in (ours, theirs)]
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    row = (f"{kind}, {job[0]} B", *medians, f"{statistics.median(ratios):.3f}", spread)
    print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    """Print the table."""
    words = arguments()
    pairs = int(words[0]) if words else 9
    print(f"{mpi_name()}\n")
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "loops"
        build_mpi(SOURCE, program)
        print("| what | ullage | bare loop | ratio of times | of all pairs |\n|---|---|---|---|---|")
        for kind in GAUGES:
            for job in JOBS:
                compare(program, kind, job, pairs)


if __name__ == "__main__":
    main()
