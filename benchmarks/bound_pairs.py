# SPDX-License-Identifier: Apache-2.0
"""What bounds messages within a node, by workloads `shared-memory` and `sockets` and by a bare program, in pairs.

python -m benchmarks.bound_pairs [PAIRS] [--engine PATH|PRESET]
"""

import statistics
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, mpi_name, phases
from ullage.analysis.metrics import metric_named
from ullage.model.plan import Layout, Named, Parameters

SOURCE: Final = Path(__file__).with_name("bound_loops.c")
LAYOUT: Final = Layout(ranks=2, nodes=1, ranks_per_node=2, binding="core")
COPY: Final[Parameters] = {"copiers": "all", "windows": 9, "window_s": 0.03}
LOCAL: Final[Parameters] = {"seconds": 0.2, "warm_up_s": 0.05}
# Of each: workload, its parameters, the metric, how many repetitions count, and the words of the bare program.
JOBS: Final[tuple[tuple[str, Parameters, str, int, tuple[str, ...]], ...]] = (
    *(
        (
            "shared-memory",
            {**COPY, "message_bytes": size, "buffers": count},
            "one_copy_bandwidth",
            1,
            ("copy", str(size), str(count)),
        )
        for size, count in ((65536, 6), (1 << 20, 1), (1 << 20, 8), (2_000_000, 2), (16 << 20, 1))
    ),
    ("shared-memory", {**COPY, "windows": 1, "message_bytes": 8}, "line_latency", 1, ("line",)),
    ("sockets", {**LOCAL, "protocol": "unix", "block_bytes": 32768}, "network_bandwidth", 9, ("unix", "32768")),
    ("sockets", {**LOCAL, "mode": "request", "protocol": "pipe", "block_bytes": 1}, "latency_p50", 9, ("pipe",)),
)


def ullage(workload: str, parameters: Parameters, metric: str, repetitions: int) -> float:
    """Return the best repetition of a metric."""
    found = phases("mpi:", Named(name="null"), Named(name=workload, parameters=parameters), 2, repetitions, LAYOUT)
    wanted = metric_named(metric)
    values = [value for phase in found if (value := wanted.sample(phase)) is not None]
    return max(values) if wanted.better == "more" else min(values)


def bare(program: Path, words: tuple[str, ...]) -> float:
    """Return the best of nine of the bare program."""
    return float(subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout)


def ratios(ours: Callable[[], float], theirs: Callable[[], float], pairs: int) -> tuple[list[float], float, float]:
    """Return the ratio of each pair, which take turns in being first, and both medians."""
    sides = list[tuple[float, float]]()
    for pair in range(pairs):
        first, second = (ours, theirs) if pair % 2 else (theirs, ours)
        values = first(), second()
        sides.append(values if pair % 2 else values[::-1])
    medians = [statistics.median(side) for side in zip(*sides, strict=True)]
    return sorted(a / b for a, b in sides), medians[0], medians[1]


def main() -> None:
    """Print the table."""
    words = arguments()
    pairs = int(words[0]) if words else 9
    print(f"{mpi_name()}\n\n| what | ullage | bare program | ratio | of all pairs |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "loops"
        subprocess.run(["cc", "-O2", "-o", str(program), str(SOURCE)], check=True)
        for workload, parameters, metric, repetitions, said in JOBS:
            ours_by = partial(ullage, workload, parameters, metric, repetitions)
            found, ours, theirs = ratios(ours_by, partial(bare, program, said), pairs)
            spread = f"{statistics.median(found):.3f} | {found[0]:.3f} to {found[-1]:.3f}"
            print(f"| {' '.join(said)} | {ours:.4g} | {theirs:.4g} | {spread} |", flush=True)


if __name__ == "__main__":
    main()
