# SPDX-License-Identifier: Apache-2.0
"""How close the search of `ullage tune` comes to the best, and how often it claims a gain that is none: simulations.

python -m benchmarks.tuning_simulation found [SEEDS]   surfaces with a known best: share of it, share of the cost
python -m benchmarks.tuning_simulation flat [SEEDS]    equal settings: tunes that claim an improvement
python -m benchmarks.tuning_simulation first [SEEDS]   share of the best that the first 8 trials reach
"""

import math
import random
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import cpu_count
from statistics import median

from benchmarks.simulated_responses import SURFACES, Surface, flat, make_space
from ullage.analysis.tuning.search import Search, Trial
from ullage.analysis.tuning.space import Space

NOISES = (0.02, 0.10, 0.30)
SHARE = 0.2
ENOUGH = 0.95
Counts = tuple[int, ...]


@dataclass(frozen=True)
class Tuned:
    """``share``: of the best that the answer reaches; ``cost``: trials over the number of settings."""

    share: float
    cost: float
    improved: bool
    first: float


def tune(surface: Surface, noise: float, seed: int, trials: int) -> Tuned:
    """One tune of at most ``trials`` trials."""
    search, draw, done = Search(surface.space, seed), random.Random(f"tune/{seed}"), list[Trial]()
    while (ask := search.next(done, trials - len(done))) is not None:
        log = math.log(surface.measured(ask.setting, noise, draw))
        done.append(Trial(ask.setting, ask.purpose, log))
    said = search.confirmation(done)
    improved = said is not None and said.answer == "better"
    answer = (
        next(t.setting for t in done if t.purpose == "confirm" and t.setting != surface.space.default)
        if improved
        else surface.space.default
    )
    best = surface.best()
    early = search.best(done[:8]) if len(done) >= 8 else surface.space.default
    return Tuned(surface.value(answer) / best, len(done) / surface.space.size, improved, surface.value(early) / best)


def tune_made(make: Callable[[Space], Surface], counts: Counts, noise: float, trials: int, seed: int) -> Tuned:
    """The same of what another process can be told: surfaces themselves cannot."""
    return tune(make(make_space(counts)), noise, seed, trials)


def in_parallel(job: Callable[[int], Tuned], seeds: int) -> list[Tuned]:
    """``job`` of every seed, on all processors."""
    with ProcessPoolExecutor(cpu_count()) as pool:
        return list(pool.map(job, range(seeds)))


def found(seeds: int) -> None:
    """The table of surfaces, sizes and noises."""
    print("surface, settings, noise: seeds with 95 % of the best (least), cost (median, most), first 8 trials (median)")
    for counts, make, noise in product(((3, 7, 8, 6), (5, 10, 10, 10)), SURFACES, NOISES):
        surface = make(make_space(counts))
        most = int(SHARE * surface.space.size)
        tuned = in_parallel(partial(tune_made, make, counts, noise, most), seeds)
        good, least = sum(one.share >= ENOUGH for one in tuned), min(one.share for one in tuned)
        costs = [one.cost for one in tuned]
        first = median(one.first for one in tuned)
        print(
            f"{surface.name}, {surface.space.size}, {noise:.0%}: {good} of {seeds} ({least:.2f}), "
            f"{median(costs):.1%} {max(costs):.1%}, {first:.2f}",
            flush=True,
        )


def flat_claims(seeds: int) -> None:
    """How many of ``seeds`` tunes over equal settings claim an improvement."""
    for noise in NOISES:
        tuned = in_parallel(partial(tune_made, flat, (3, 4, 4, 3), noise, 60), seeds)
        print(f"flat, noise {noise:.0%}: {sum(one.improved for one in tuned)} of {seeds} claim one", flush=True)


if __name__ == "__main__":
    what, seeds_ = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    {"found": found, "flat": flat_claims}[what](seeds_)
