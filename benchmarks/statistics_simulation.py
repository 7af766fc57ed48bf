# SPDX-License-Identifier: Apache-2.0
"""How often what Ullage says of noise is right, by simulation: the tables of docs/statistics.md, with fixed seeds.

    python -m benchmarks.statistics_simulation rows [CELLS]         intervals under the stop rule: coverage and samples
    python -m benchmarks.statistics_simulation reports [REPORTS]    equal targets: reports that say anything false
    python -m benchmarks.statistics_simulation compare [REPORTS]    24 equal cells: comparisons that say anything false
    python -m benchmarks.statistics_simulation power [REPORTS]      one setting 15 % better: is it found
    python -m benchmarks.statistics_simulation launches [REPORTS]   launches differ: reports, reruns, what is told

``--before`` repeats all but the first with the stop rule of before; run with the sources of before they give
the numbers of before.
"""

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import cpu_count

from benchmarks import simulated_sweeps
from benchmarks.simulated_noise import NOISES, STRONG
from benchmarks.simulated_rules import AFTER, BEFORE, RULES, after_dependence
from benchmarks.simulated_sweeps import (
    BEST_CELL,
    false_cells,
    false_reruns,
    false_statements,
    find_in,
    sweep_rows,
    told_of_ranks,
)
from ullage.model.summary import Row

CVS = (0.01, 0.03, 0.05, 0.10)
CELLS = 42
COMPARED = 24
SHARED = 4


def spread_over(work: Callable[[int], Counter[str]], jobs: int) -> Counter[str]:
    """The counts of ``work`` of all seeds together, on all processors."""
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(cpu_count()) as pool:
        for found in pool.map(work, range(jobs), chunksize=max(1, jobs // (SHARED * cpu_count()))):
            total.update(found)
    return total


def study_of_rows(which: int, cv: float, how: int, seed: int) -> Counter[str]:
    """One result of 42 cells: how many say 95 %, of those how many cover, and how many samples they took."""
    noise, rule = NOISES[which], RULES[how]
    cells = [noise.series(cv, f"{seed}/{cell}") for cell in range(CELLS)]
    taken = [rule.take(cell) for cell in cells]
    if rule.uses_dependence:
        taken = after_dependence(rule, cells, taken)
    found: Counter[str] = Counter(cells=CELLS, samples=sum(map(len, taken)))
    dependence = rule.dependence(taken)
    for samples in taken:
        interval = rule.interval(samples, dependence)
        if interval.level_reached >= interval.level or rule.claims_all:
            found["says"] += 1
            found["covers"] += interval.low <= noise.median(cv) <= interval.high
    return found


def rows(cells: int) -> None:
    """A line for each noise: coverage of rows that say 95 % and mean samples, rule by rule."""
    print("noise | CV | " + " | ".join(f"{rule.name}: coverage, rows that say 95 %, samples" for rule in RULES))
    for which, noise in enumerate(NOISES):
        for cv in CVS:
            parts: list[str] = []
            for how in range(len(RULES)):
                found = spread_over(partial(study_of_rows, which, cv, how), max(1, cells // CELLS))
                covers = found["covers"] / max(found["says"], 1)
                parts.append(
                    f"{covers:.3f} {found['says'] / found['cells']:.0%} {found['samples'] / found['cells']:.1f}"
                )
            print(f"{noise.name} | {cv:.0%} | " + " | ".join(parts), flush=True)


def study_of_equals(which: int, cv: float, how: int, seed: int) -> Counter[str]:
    """A default sweep of two equal targets: which kinds of sentences are false."""
    kinds = false_statements(sweep_rows(NOISES[which], cv, RULES[how], f"equal/{seed}"))
    return Counter({"reports": 1, "any": bool(kinds), **dict.fromkeys(kinds, 1)})


def study_of_cells(which: int, cv: float, how: int, seed: int) -> Counter[str]:
    """`ullage compare` of 24 cells of equal targets."""
    made = sweep_rows(NOISES[which], cv, RULES[how], f"cells/{seed}")
    return Counter({"reports": 1, "any": false_cells(made, COMPARED) > 0})


def study_of_power(which: int, cv: float, how: int, seed: int) -> Counter[str]:
    """The same with one setting of one target 15 % better."""
    made = sweep_rows(NOISES[which], cv, RULES[how], f"better/{seed}", better=BEST_CELL)
    return Counter({"reports": 1, **find_in(made)})


def print_counts(
    study: Callable[[int, float, int, int], Counter[str]], reports: int, how: int, cvs: Sequence[float]
) -> None:
    """A line for each noise: shares of the reports."""
    for which, noise in enumerate(NOISES):
        for cv in cvs:
            found = spread_over(partial(study, which, cv, how), reports)
            total = found.pop("reports")
            shares = ", ".join(f"{name} {count / total:.1%}" for name, count in sorted(found.items()))
            print(f"{noise.name} | {cv:.0%} | {shares}", flush=True)


SMALL, MIDDLE = ((1, 2, 4), (1 << 17, 1 << 20, 1 << 23)), ((1, 2, 4), (1 << 17, 1 << 19, 1 << 21, 1 << 23))
GRIDS = SMALL, MIDDLE, (simulated_sweeps.RANKS, simulated_sweeps.BLOCKS)
CASES = [
    *((NOISES[0], drift) for drift in (0.0, 0.5, 1.0, 2.0)),
    *((noise, 0.0) for noise in (NOISES[4], STRONG)),
    (NOISES[4], 1.0),
]


def study_of_launches(grid: int, which: int, cv: float, seed: int) -> Counter[str]:
    """A sweep of two equal targets, its rerun, and one where each doubling of ranks brings 10 or 30 %."""
    simulated_sweeps.RANKS, simulated_sweeps.BLOCKS = GRIDS[grid]
    noise, drift = CASES[which]
    first, again = (sweep_rows(noise, cv, AFTER, f"launch/{seed}/{name}", drift=drift) for name in "ab")
    # A run is one more launch: the machine is not what it was.
    state = math.exp(random.Random(f"run/{seed}").gauss(0, drift * cv))
    again = [scaled_row(row, state) for row in again]
    found = Counter(reports=1, false=bool(false_statements(first)), reruns=false_reruns(first, again) > 0)
    for gain in (1.1, 1.3):
        rising = {
            (target, ranks, block): gain**step
            for target in "ab"
            for step, ranks in enumerate(simulated_sweeps.RANKS)
            for block in simulated_sweeps.BLOCKS
        }
        told = told_of_ranks(sweep_rows(noise, cv, AFTER, f"rise/{seed}", rising, drift))
        found.update({f"{gain} {word}": count for word, count in told.items()})
        faster = [scaled_row(row, gain) for row in again]
        cells = false_reruns(first, faster) / len(first)
        found[f"{gain} faster: half of the cells"] += cells >= 0.5
    return found


def scaled_row(row: Row, factor: float) -> Row:
    """The same with all values times ``factor``."""
    return row.model_copy(
        update={"repetitions": [factor * value for value in row.repetitions], "median": factor * row.median}
    )


def print_launches(reports: int) -> None:
    """A line for each grid, noise and deviation of launches: shares of the reports."""
    for grid, (ranks, blocks) in enumerate(GRIDS):
        for which, (noise, drift) in enumerate(CASES):
            # The large grid takes ten times as long.
            found = spread_over(partial(study_of_launches, grid, which, 0.03), reports // (4 if grid == 2 else 1))
            total = found.pop("reports")
            shares = ", ".join(f"{name} {count / total:.1%}" for name, count in found.items())
            print(f"{len(ranks)} x {len(blocks)} | {noise.name} | {drift} | {shares}", flush=True)


def numbers(words: Sequence[str]) -> Iterator[int]:
    """Those among the words."""
    return (int(word) for word in words if word.isdigit())


def main(words: Sequence[str]) -> None:
    """See the module."""
    how = RULES.index(BEFORE if "--before" in words else AFTER)
    wanted = next(islice(numbers(words), 1), None)
    if "rows" in words:
        rows(wanted or 21_000)
    if "reports" in words:
        print_counts(study_of_equals, wanted or 1000, how, (0.02, 0.05, 0.10))
    if "compare" in words:
        print_counts(study_of_cells, wanted or 400, how, (0.02, 0.05, 0.10))
    if "launches" in words:
        print_launches(wanted or 200)
    if "power" in words:
        print_counts(study_of_power, wanted or 400, how, (0.02, 0.05, 0.10))


if __name__ == "__main__":
    main(sys.argv[1:])
