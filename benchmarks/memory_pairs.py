# SPDX-License-Identifier: Apache-2.0
"""Workloads `stream` and `chase` beside bare C loops (memory_loops.c), in pairs, by the shortest pass of either side.

python -m benchmarks.memory_pairs [PAIRS [MIB]] [--engine PATH|PRESET]
"""

import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.engine_runs import arguments, phases
from ullage.model.plan import Named, Parameters
from ullage.model.record import PhaseRecord

SOURCE: Final = Path(__file__).with_name("memory_loops.c")
ARRAYS: Final = {"read": 1, "copy": 2, "triad": 3}
PASSES: Final = 12
PAGES: Final = ("small", "huge")
BARE: Final = "bare loop"


def bare(program: Path, kernel: str, size: int, threads: int, pages: str) -> int:
    """The shortest pass of the loop in ns; of a chase, ps of one load."""
    words = [str(program), kernel, str(size), str(threads), str(PASSES), "1" if pages == "huge" else "0"]
    return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def engine(workload: str, parameters: Parameters) -> PhaseRecord:
    """The one phase of a case on cores and memory."""
    common: Parameters = {"warm_up_s": 0.1, "windows": PASSES}
    return phases("mem:", Named(name="null"), Named(name=workload, parameters={**common, **parameters}))[0]


def best_rate(kernel: str, stores: str, size: int, threads: int, pages: str) -> float:
    """Bytes/s of the shortest window, by STREAM's counting."""
    wanted: Parameters = {"kernel": kernel, "working_set_bytes": size, "threads": threads, "stores": stores}
    gauges = engine("stream", {**wanted, "pages": pages, "window_s": 0.02}).gauges
    return gauges["application_bytes"].sum / PASSES / gauges["shortest_window_s"].most


def streams(program: Path, pairs: int, size: int) -> None:
    """Bandwidth far beyond the caches."""
    print("| kernel | threads | pages | ullage | bare loop | ratio | of all pairs |\n|---|---|---|---|---|---|---|")
    for threads in (1, 2):
        for pages in PAGES:
            for kernel, arrays in ARRAYS.items():
                kinds = ("ordinary",) if kernel == "read" else ("ordinary", "non-temporal")
                used = size // arrays // threads // 512 * 512 * arrays * threads
                ours = {kind: list[float]() for kind in kinds}
                theirs = list[float]()
                for pair in range(pairs):
                    for side in in_turn((*kinds, BARE), pair):
                        if side == BARE:
                            theirs.append(used / (bare(program, kernel, size, threads, pages) / 1e9))
                        else:
                            ours[side].append(best_rate(kernel, side, size, threads, pages))
                for kind in kinds:
                    row(
                        f"{kernel}, {kind} | {threads} | {pages}",
                        ours[kind],
                        theirs,
                        lambda rate: f"{rate / 1e9:.1f} GB/s",
                    )


def in_turn(sides: tuple[str, ...], pair: int) -> tuple[str, ...]:
    """Each is the first of every so many pairs: what ran before leaves its memory, which is worth some percent."""
    first = pair % len(sides)
    return (*sides[first:], *sides[:first])


def row(name: str, ours: list[float], theirs: list[float], show: Callable[[float], str]) -> None:
    """Medians of both sides, and the ratio of each pair."""
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    medians = " | ".join(show(statistics.median(side)) for side in (ours, theirs))
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    print(f"| {name} | {medians} | {statistics.median(ratios):.3f} | {spread} |", flush=True)


def chases(program: Path, pairs: int) -> None:
    """Time of one load. The ratio is of ours to the bare chase's: 1.00 is the same, more is slower."""
    print("\n| cycle | pages | ullage | bare chase | ratio | of all pairs |\n|---|---|---|---|---|---|")
    for size in (1 << 10, 32 << 10, 256 << 10, 8 << 20, 256 << 20):
        ours, theirs = list[float](), list[float]()
        for _ in range(pairs):
            gauges = engine("chase", {"working_set_bytes": size, "pages": "huge", "window_s": 0.02}).gauges
            ours.append(gauges["shortest_window_s"].most * PASSES / gauges["accesses"].sum)
            theirs.append(bare(program, "chase", size, 1, "huge") / 1e12)
        row(f"{size >> 10} KiB | huge", ours, theirs, lambda seconds: f"{seconds * 1e9:.2f} ns")


def main() -> None:
    """Print both tables."""
    given = arguments()
    pairs = int(given[0]) if given else 5
    size = (int(given[1]) if len(given) > 1 else 768) << 20
    with tempfile.TemporaryDirectory() as place:
        program = Path(place) / "loops"
        words = ["cc", "-O3", "-march=native", "-pthread"]
        subprocess.run([*words, "-o", str(program), str(SOURCE)], check=True)
        streams(program, pairs, size)
        chases(program, pairs)


if __name__ == "__main__":
    main()
