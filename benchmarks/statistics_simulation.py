# SPDX-License-Identifier: Apache-2.0
"""How often what Ullage says of noise is right, by simulation: the tables of docs/statistics.md, with fixed seeds.

    python -m benchmarks.statistics_simulation rows [CELLS]         intervals under the stop rule: coverage and samples
    python -m benchmarks.statistics_simulation reports [REPORTS]    equal targets: reports that say anything false
    python -m benchmarks.statistics_simulation compare [REPORTS]    24 equal cells: comparisons that say anything false
    python -m benchmarks.statistics_simulation power [REPORTS]      one setting 15 % better: is it found

``--before`` repeats all but the first with the stop rule of before; run with the sources of before they give
the numbers of before.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import cpu_count

from benchmarks.simulated_noise import NOISES
from benchmarks.simulated_rules import AFTER, BEFORE, RULES, after_dependence
from benchmarks.simulated_sweeps import BEST_CELL, false_cells, false_statements, find_in, sweep_rows

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


# -- rows --------------------------------------------------------------------------------------------------------------


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


# -- reports -----------------------------------------------------------------------------------------------------------


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
    if "power" in words:
        print_counts(study_of_power, wanted or 400, how, (0.02, 0.05, 0.10))


if __name__ == "__main__":
    main(sys.argv[1:])
