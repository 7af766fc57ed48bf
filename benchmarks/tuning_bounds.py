# SPDX-License-Identifier: Apache-2.0
"""What others reach with the trials of a search: every setting measured once, and searches that are told a part.

nice python -m benchmarks.tuning_bounds grid [SEEDS]     all settings once, and the one with the highest value is taken
nice python -m benchmarks.tuning_bounds told [SEEDS]     told all settings within 10 % of the best, and what acts alone
nice python -m benchmarks.tuning_bounds eight [SEEDS]    seven trials, told all but which of three kinds is best
"""

import math
import random
import sys
from statistics import fmean, median
from typing import Final

from benchmarks.simulated_responses import SURFACES, Surface, make_space
from ullage.analysis.tuning.space import Setting
from ullage.arrays import NDArray, np

FIRST_SEED: Final = 1000
NOISES: Final = (0.02, 0.10, 0.30)
ENOUGH: Final = 0.95
# A fifth of 1,008 trials, without the pairs (12) and the repeated default (11 and more).
TOLD_TRIALS: Final = 178
_TOLD_SHARE: Final = 0.9
# Before any trial an effect is expected within so many deviations of a trial.
_EFFECT: Final = 2.0
_FACTORS: Final = (1.0, 0.8, 0.6)
_SECOND_TRIES: Final = 20


def whole_grid(surface: Surface, noise: float, seed: int) -> float:
    """Measure all settings once; return the true share of the best of that with the highest value."""
    draw = random.Random(f"grid/{seed}")
    settings = [tuple(int(place) for place in row) for row in surface.space.candidates]
    return surface.value(max(settings, key=lambda one: surface.measured(one, noise, draw))) / surface.best()


def told(surface: Surface, noise: float, seed: int) -> float:
    """Choose among the settings within 10 % of the best, and return the share that the choice reaches.

    It knows that values of parameters act independently there, and the noise. Two draws of what it believes choose each
    trial (top-two Thompson sampling, Russo 2016).
    """
    settings = [tuple(int(place) for place in row) for row in surface.space.candidates]
    best = surface.best()
    near = [one for one in settings if surface.value(one) >= _TOLD_SHARE * best]
    design = _design(near)
    draw, deviation = np.random.default_rng(seed), math.sqrt(math.log(1 + noise * noise))
    precision = np.eye(design.shape[1]) / _EFFECT**2
    precision[0, 0] = 1e-4
    weighted = np.zeros(design.shape[1])
    for _ in range(TOLD_TRIALS):
        row = _chosen(design, precision, weighted, draw)
        value = (math.log(surface.value(near[row])) + draw.normal(0, deviation)) / deviation
        precision += np.outer(design[row], design[row])
        weighted += design[row] * value
    return surface.value(near[int(np.argmax(design @ np.linalg.solve(precision, weighted)))]) / best


def _design(settings: list[Setting]) -> NDArray[np.float64]:
    """Return a column of ones, and one for each value of each parameter but its first."""
    columns = [
        [float(one[place] == value) for one in settings]
        for place in range(len(settings[0]))
        for value in sorted({one[place] for one in settings})[1:]
    ]
    return np.column_stack([np.ones(len(settings)), *columns])


def _chosen(
    design: NDArray[np.float64],
    precision: NDArray[np.float64],
    weighted: NDArray[np.float64],
    draw: np.random.Generator,
) -> int:
    covariance = np.linalg.inv(precision)
    middle, factor = covariance @ weighted, np.linalg.cholesky(covariance)

    def believed() -> int:
        return int(np.argmax(design @ (middle + factor @ draw.standard_normal(len(middle)))))

    first = believed()
    if draw.random() < 0.5:
        return first
    others = (believed() for _ in range(_SECOND_TRIES))
    return next((one for one in others if one != first), first)


def of_eight(noise: float, seed: int) -> float:
    """Take seven trials of three kinds that reach 1, 0.8 and 0.6 of the best; return what the highest mean reaches."""
    draw = random.Random(f"eight/{seed}")
    deviation = math.sqrt(math.log(1 + noise * noise))
    counts = (3, 2, 2)
    kinds = draw.sample(_FACTORS, len(_FACTORS))
    means = [
        fmean(math.log(kind) + draw.gauss(0, deviation) for _ in range(count))
        for kind, count in zip(kinds, counts, strict=True)
    ]
    return kinds[means.index(max(means))]


def _table(what: str, seeds: int) -> None:
    run = whole_grid if what == "grid" else told
    for make in SURFACES:
        for noise in NOISES:
            surface = make(make_space())
            shares = [run(surface, noise, seed) for seed in range(FIRST_SEED, FIRST_SEED + seeds)]
            good = sum(share >= ENOUGH for share in shares)
            print(f"{surface.name}, {noise:.0%}: {good} of {seeds}, {median(shares):.2f} (median)", flush=True)


def _eight(seeds: int) -> None:
    for noise in NOISES:
        good = sum(of_eight(noise, seed) >= 0.9 for seed in range(FIRST_SEED, FIRST_SEED + seeds))
        print(f"eight trials, {noise:.0%}: {good} of {seeds} reach 0.9", flush=True)


if __name__ == "__main__":
    what_, seeds_ = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    _eight(seeds_) if what_ == "eight" else _table(what_, seeds_)
