# SPDX-License-Identifier: Apache-2.0
"""What grades by others' load do to rows, by simulation: the tables of docs/statistics.md, with fixed seeds.

    python -m benchmarks.grades_simulation selection [CELLS]   values of rows against the median of all repetitions
    python -m benchmarks.grades_simulation grades [ROWS]       grades of rows whose ranks waited for a known time

The rules of "before" are written out here: a phase was graded by the accounts of the cores alone, repetitions of grade
C were made again twice and left out where 3 others remained, and pooled accounts could raise a grade but not lower it.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from ullage.analysis.verdicts.grades import row_grade
from ullage.arrays import np
from ullage.model.record import Contamination, Grade, PhaseRecord

Generator = np.random.Generator
TICK_S = 0.01
REPETITIONS = 9
RETRIES = 2
FEWEST_CLEAN = 3
MANY = 100_000


@dataclass(frozen=True)
class Phase:
    """One repetition: its duration, and the share of the ranks' time that others took."""

    seconds: float
    taken: float


Draw = Callable[[Generator], Phase]


def _together(rng: Generator) -> Phase:
    """Others come and go; the more they take, the longer a repetition lasts."""
    taken = float(rng.choice([0.0, rng.uniform(0.05, 0.5)], p=[0.5, 0.5]))
    return Phase(0.1 * math.exp(rng.normal(0, 0.05)) / (1 - taken), taken)


def _slow_catches_more(rng: Generator) -> Phase:
    """The load is the same all the time, but what the device makes slow is long enough to prove it."""
    return Phase(0.05 * math.exp(rng.normal(0, 0.6)), 0.1)


def _apart(rng: Generator) -> Phase:
    """Others take time that nobody needed: long and disturbed have nothing to do with each other."""
    taken = float(rng.choice([0.0, 0.3], p=[0.5, 0.5]))
    return Phase(0.1 * math.exp(rng.normal(0, 0.2)), taken)


KINDS: dict[str, Draw] = {
    "the more others take, the slower": _together,
    "slow by itself, so long enough to prove": _slow_catches_more,
    "independent": _apart,
}


def account(rng: Generator, phase: Phase, cores: int, *, idle: float = 0.0) -> Contamination:
    """What the engine would record: clocks that count in steps, whose place at either end is random."""
    core_s = phase.seconds * cores
    foreign = phase.taken + idle + (rng.uniform(-1, 1) + rng.uniform(-1, 1)) * TICK_S / core_s
    return Contamination(
        foreign_cpu_ppm=round(1e6 * foreign),
        steal_ppm=0,
        kernel_threads_ppm=0,
        uncertainty_ppm=math.ceil(2e6 * TICK_S / core_s),
        run_delay_ppm=round(1e6 * phase.taken),
        cores_per_rank=1.0,
        involuntary_switches=0,
    )


def bounds_before(found: Contamination) -> tuple[float, float]:
    """What others had of the cores, at least and at most; shares were cut to what a share can be."""
    uncertainty = min(1e6, found.uncertainty_ppm or 1e6) / 1e6
    had = min(1.0, max(0.0, found.foreign_cpu_ppm / 1e6))
    return had - uncertainty, had + uncertainty


def grade_before(found: Contamination) -> Grade:
    """The grade of a phase by the accounts of the cores."""
    least, most = bounds_before(found)
    return "C" if least >= 0.05 else "?" if most >= 0.05 else "B" if most >= 0.01 else "A"


def row_before(found: list[Contamination]) -> Grade:
    """The grade of a row by those of its phases, and by all accounts together where none is C."""
    if any(grade_before(one) == "C" for one in found):
        return "C"
    weights = [1 / min(1e6, one.uncertainty_ppm or 1e6) for one in found]
    used = sum(w * sum(bounds_before(one)) / 2 * 1e6 for w, one in zip(weights, found, strict=True))
    most = (used + math.sqrt(len(found))) / sum(weights) / 1e6
    return "A" if most < 0.01 else "B" if most < 0.05 else "?"


def row_now(found: list[Contamination]) -> Grade | None:
    """The product's own rule."""
    grade = "A"
    return row_grade([PhaseRecord.model_construct(grade=grade, contamination=one) for one in found])


def cell_before(rng: Generator, draw: Draw) -> float:
    """The value of a row before: clean repetitions where there were 3, after two more for disturbed ones."""
    taken: list[tuple[float, bool]] = []
    retries = RETRIES
    while len(taken) < REPETITIONS + RETRIES - retries:
        phase = draw(rng)
        is_dirty = grade_before(account(rng, phase, 2)) == "C"
        retries -= is_dirty and retries > 0
        taken.append((phase.seconds, is_dirty))
    clean = [seconds for seconds, is_dirty in taken if not is_dirty]
    return median(clean if len(clean) >= FEWEST_CLEAN else [seconds for seconds, _ in taken])


def cell_repeated(rng: Generator, draw: Draw) -> float:
    """The value where disturbed repetitions are made again, and all count."""
    taken: list[float] = []
    retries = RETRIES
    while len(taken) < REPETITIONS + RETRIES - retries:
        phase = draw(rng)
        retries -= grade_before(account(rng, phase, 2)) == "C" and retries > 0
        taken.append(phase.seconds)
    return median(taken)


def cell_now(rng: Generator, draw: Draw) -> float:
    """The value of a row now: of all repetitions."""
    return median(draw(rng).seconds for _ in range(REPETITIONS))


def selection(cells: int) -> None:
    """A line for each way in which load and time go together: bias of the rate in the middle of many rows."""
    print("load and time | before | all count, disturbed ones made again | now")
    for name, draw in KINDS.items():
        rng = np.random.default_rng(1)
        truth = median(draw(rng).seconds for _ in range(MANY))
        parts: list[str] = []
        for cell in (cell_before, cell_repeated, cell_now):
            rng = np.random.default_rng(2)
            values = np.array([cell(rng, draw) for _ in range(cells)])
            parts.append(f"{100 * (truth / float(np.median(values)) - 1):+.1f} %")
        print(f"{name} | " + " | ".join(parts), flush=True)


def grades(rows: int) -> None:
    """A line for each length, cores and shares: the grades of rows of 6 repetitions, before and now."""
    print("duration | cores | waited | others on idle cores | before A B ? C | now A B ? C")
    for seconds in (0.002, 0.02, 0.2, 2.0):
        for cores in (2, 64):
            for taken, idle in ((0.0, 0.0), (0.02, 0.0), (0.10, 0.0), (0.30, 0.0), (0.0, 0.3)):
                rng = np.random.default_rng(3)
                before: Counter[str] = Counter()
                now: Counter[str] = Counter()
                for _ in range(rows):
                    found = [account(rng, Phase(seconds, taken), cores, idle=idle) for _ in range(6)]
                    before[row_before(found)] += 1
                    now[row_now(found) or "?"] += 1
                shares = (" ".join(f"{100 * one[grade] / rows:.0f}" for grade in "AB?C") for one in (before, now))
                print(f"{seconds:g} s | {cores} | {taken:.0%} | {idle:.0%} | " + " | ".join(shares), flush=True)


def main() -> None:
    """Run the study that is named."""
    studies = {"selection": selection, "grades": grades}
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in studies:
        sys.exit(__doc__)
    studies[name](int(sys.argv[2]) if len(sys.argv) > 2 else 2000)


if __name__ == "__main__":
    main()
