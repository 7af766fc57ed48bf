# SPDX-License-Identifier: Apache-2.0
"""How close the search of `ullage tune` comes to the best, and how often it claims a gain that is none: simulations.

nice python -m benchmarks.tuning_simulation found [SEEDS]   surfaces with a known best: share of it, share of the cost
nice python -m benchmarks.tuning_simulation large [SEEDS]   the same of 5,000 settings
nice python -m benchmarks.tuning_simulation flat [SEEDS]    equal settings: tunes that claim an improvement
nice python -m benchmarks.tuning_simulation first [SEEDS]   share of the best after 8 trials, hills at any place
nice python -m benchmarks.tuning_simulation screen [SEEDS]  important ones of many parameters that the screening keeps

The constants of the search were chosen by other seeds than these: they begin at 1000.
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
from typing import TypeVar

from benchmarks.simulated_responses import SURFACES, Surface, few_matter, flat, hill_somewhere, make_space
from ullage.analysis.tuning.effects import design, important
from ullage.analysis.tuning.search import Search, Trial
from ullage.analysis.tuning.space import Space
from ullage.analysis.tuning.surrogate import Trials, fit

NOISES = (0.02, 0.10, 0.30)
FIRST_SEED = 1000
SHARE = 0.2
ENOUGH = 0.95
Counts = tuple[int, ...]
T = TypeVar("T")


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
    early = Search(surface.space, seed).best(done[:8]) if len(done) >= 8 else surface.space.default
    return Tuned(surface.value(answer) / best, len(done) / surface.space.size, improved, surface.value(early) / best)


def tune_made(make: Callable[[Space], Surface], counts: Counts, noise: float, trials: int, seed: int) -> Tuned:
    """The same of what another process can be told: surfaces themselves cannot."""
    return tune(make(make_space(counts)), noise, seed, trials)


def in_parallel(job: Callable[[int], T], seeds: int) -> list[T]:
    """``job`` of every seed, on all processors."""
    with ProcessPoolExecutor(cpu_count()) as pool:
        return list(pool.map(job, range(FIRST_SEED, FIRST_SEED + seeds)))


def found(seeds: int, counts: Counts = (3, 7, 8, 6)) -> None:
    """The table of surfaces and noises."""
    print("surface, settings, noise: seeds with 95 % of the best (least), cost (median, most), first 8 trials (median)")
    for make, noise in product(SURFACES, NOISES):
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


def large(seeds: int) -> None:
    """The same of 5,000 settings."""
    found(seeds, (5, 10, 10, 10))


def first(seeds: int) -> None:
    """What 8 trials reach on hills whose place is drawn by the seed."""
    for noise in NOISES:
        shares = sorted(in_parallel(partial(_first_share, noise), seeds))
        good = sum(share >= 0.9 for share in shares)
        print(
            f"hill somewhere, noise {noise:.0%}: {median(shares):.2f} (median), {shares[seeds // 10]:.2f} "
            f"(1 in 10 below), {good} of {seeds} reach 0.9",
            flush=True,
        )


def _first_share(noise: float, seed: int) -> float:
    surface, search, draw = hill_somewhere(make_space(), seed), Search(make_space(), seed), random.Random(f"f/{seed}")
    done = list[Trial]()
    while len(done) < 8 and (ask := search.next(done, 200 - len(done))) is not None:
        done.append(Trial(ask.setting, ask.purpose, math.log(surface.measured(ask.setting, noise, draw))))
    return surface.value(search.best(done)) / surface.best()


def screened(seeds: int) -> None:
    """How many of 3 important parameters of 6, 8 and 11 the screening keeps, and how many it keeps in all."""
    for count, noise in product((6, 8, 11), NOISES):
        kept = in_parallel(partial(_kept, count, noise), seeds)
        important_kept = sum(one[0] for one in kept) / (3 * seeds)
        size = sum(one[1] for one in kept) / seeds
        print(f"{count} parameters, noise {noise:.0%}: {important_kept:.1%} kept, {size:.1f} in all", flush=True)


def _kept(count: int, noise: float, seed: int) -> tuple[int, int]:
    surface, matter = few_matter(count, seed)
    draw = random.Random(f"screen/{seed}")
    settings = [surface.space.default, *design(surface.space)]
    logs = [math.log(surface.measured(setting, noise, draw)) for setting in settings]
    kept = important(fit(surface.space, Trials(settings, logs, [float(turn) for turn in range(len(settings))])))
    return sum(place in kept for place in matter), len(kept)


def flat_claims(seeds: int) -> None:
    """How many of ``seeds`` tunes over equal settings claim an improvement."""
    for noise in NOISES:
        tuned = in_parallel(partial(tune_made, flat, (3, 4, 4, 3), noise, 60), seeds)
        print(f"flat, noise {noise:.0%}: {sum(one.improved for one in tuned)} of {seeds} claim one", flush=True)


if __name__ == "__main__":
    what, seeds_ = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    {"found": found, "large": large, "flat": flat_claims, "first": first, "screen": screened}[what](seeds_)
