# SPDX-License-Identifier: Apache-2.0
"""Response surfaces with a known best, for simulations of the search: one parameter without an order, three with."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ullage.analysis.tuning.space import Dimension, Setting, Space


@dataclass(frozen=True)
class Surface:
    """``value``: the true objective of a setting, more is better, the best near 1."""

    name: str
    space: Space
    value: Callable[[Setting], float]

    def best(self) -> float:
        """Over all settings."""
        return max(self.value(tuple(int(place) for place in row)) for row in self.space.candidates)

    def measured(self, setting: Setting, noise: float, draw: random.Random) -> float:
        """One trial: lognormal noise of that coefficient of variation."""
        return self.value(setting) * math.exp(draw.gauss(0, math.sqrt(math.log(1 + noise * noise))))


def make_space(counts: tuple[int, ...] = (3, 7, 8, 6), default: Setting = (0, 0, 0, 0)) -> Space:
    """The first parameter has no order. (3, 7, 8, 6) are 1,008 settings, (5, 10, 10, 10) are 5,000."""
    dimensions = [Dimension("backend", tuple("abcdefgh"[: counts[0]]), ordered=False)]
    dimensions += [Dimension(f"n{i}", tuple(str(2**v) for v in range(n))) for i, n in enumerate(counts[1:])]
    return Space(tuple(dimensions), default)


def _at(space: Space, setting: Setting) -> list[float]:
    return [place / (len(one.values) - 1) for place, one in zip(setting[1:], space.dimensions[1:], strict=True)]


def _hill(at: list[float], middle: tuple[float, ...], width: float) -> float:
    return math.exp(-sum((x - m) ** 2 for x, m in zip(at, middle, strict=True)) / (2 * width**2))


def smooth(space: Space) -> Surface:
    """One optimum; the unordered parameter scales it."""

    def value(setting: Setting) -> float:
        factor = (0.8, 1.0, 0.6, 0.7, 0.5)[setting[0]]
        return factor * (0.15 + 0.85 * _hill(_at(space, setting), (0.7, 0.6, 0.45), 0.45))

    return Surface("smooth", space, value)


def hill_somewhere(space: Space, seed: int) -> Surface:
    """One optimum, at a place and with factors of the unordered parameter that ``seed`` draws."""
    draw = random.Random(f"hill/{seed}")
    top = tuple(draw.uniform(0.15, 0.85) for _ in space.dimensions[1:])
    factors = draw.sample((1.0, 0.8, 0.6, 0.7, 0.5)[: len(space.dimensions[0].values)], len(space.dimensions[0].values))

    def value(setting: Setting) -> float:
        return factors[setting[0]] * (0.15 + 0.85 * _hill(_at(space, setting), top, 0.45))

    return Surface("hill somewhere", space, value)


def few_matter(count: int, seed: int) -> tuple[Surface, tuple[int, ...]]:
    """Three of ``count`` parameters matter, each by a factor of 1.35 to 5; the last one has no order.

    Return the surface and the places of the three. Each rises to a value that ``seed`` draws and falls beyond it.
    """
    draw = random.Random(f"few/{seed}")
    values = tuple("12345")
    space = Space(tuple(Dimension(f"p{i}", values, ordered=i < count - 1) for i in range(count)), (0,) * count)
    matter = tuple(draw.sample(range(count), 3))
    tops = {place: draw.uniform(0, 1) for place in matter}
    sizes = {place: draw.uniform(0.3, 1.6) for place in matter}
    kinds = draw.sample((0.0, 0.25, 0.5, 0.75, 1.0), 5)

    def value(setting: Setting) -> float:
        lost = 0.0
        for place in matter:
            top, at = tops[place], setting[place] / 4
            share = kinds[setting[place]] if place == count - 1 else (abs(at - top) / max(top, 1 - top)) ** 1.5
            lost += sizes[place] * share
        return math.exp(-lost)

    return Surface("few matter", space, value), matter


def two_optima(space: Space) -> Surface:
    """A broad hill, and a higher and narrower one elsewhere."""

    def value(setting: Setting) -> float:
        factor = (1.0, 0.8, 0.6, 0.7, 0.5)[setting[0]]
        at = _at(space, setting)
        return factor * (0.1 + max(0.65 * _hill(at, (0.2, 0.25, 0.3), 0.4), 0.9 * _hill(at, (0.8, 0.7, 0.7), 0.3)))

    return Surface("two optima", space, value)


def cliff(space: Space) -> Surface:
    """Rises, less and less, until it drops to a quarter, as with a wrong stripe."""

    def value(setting: Setting) -> float:
        at = _at(space, setting)
        factor = (0.7, 0.75, 1.0, 0.6, 0.5)[setting[0]]
        rise = 0.3 + 0.7 * (1 - math.exp(-5 * at[0]))
        drop = 0.25 if at[0] > 0.7 or at[1] < 0.2 else 1.0
        return factor * rise * drop * (0.5 + 0.5 * _hill(at[1:], (0.6, 0.5), 0.4))

    return Surface("cliff", space, value)


def flat(space: Space) -> Surface:
    """All settings are equal."""
    return Surface("flat", space, lambda _: 1.0)


SURFACES: Final[tuple[Callable[[Space], Surface], ...]] = (smooth, two_optima, cliff)
