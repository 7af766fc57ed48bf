# SPDX-License-Identifier: Apache-2.0
"""Kinds of noise around 1 with a given coefficient of variation, and where their median is."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from statistics import NormalDist

# A mode's own scatter, as a part of the whole.
_OWN = 0.2
_RHO = 0.3
_STRONG = 0.6


@dataclass(frozen=True)
class Noise:
    """``draw(random, cv)`` gives an endless series; ``middle(cv)`` is the true median."""

    name: str
    draw: Callable[[random.Random, float], Iterator[float]]
    middle: Callable[[float], float]

    def series(self, cv: float, seed: str) -> Iterator[float]:
        """The same for the same seed."""
        return self.draw(random.Random(f"{self.name}/{cv}/{seed}"), cv)

    def median(self, cv: float) -> float:
        """The median of the distribution."""
        return self.middle(cv)


def _normal(draw: random.Random, cv: float) -> Iterator[float]:
    return (draw.gauss(1, cv) for _ in count())


def _lognormal(draw: random.Random, cv: float) -> Iterator[float]:
    sigma = math.sqrt(math.log1p(cv * cv))
    return (math.exp(draw.gauss(0, sigma)) for _ in count())


def _modes(share: float, cv: float) -> tuple[float, float, float]:
    """Where the two modes are, the second of which has ``share`` of all, and their own deviation."""
    distance = cv * math.sqrt((1 - _OWN**2) / (share * (1 - share)))
    return 1 - share * distance, 1 + (1 - share) * distance, cv * _OWN


def _two_modes(share: float) -> Callable[[random.Random, float], Iterator[float]]:
    def draw(source: random.Random, cv: float) -> Iterator[float]:
        first, second, own = _modes(share, cv)
        return (source.gauss(second if source.random() < share else first, own) for _ in count())

    return draw


def _middle_of_modes(share: float) -> Callable[[float], float]:
    def middle(cv: float) -> float:
        first, second, own = _modes(share, cv)
        low, high = first - 5 * own, second + 5 * own
        for _ in range(80):
            at = (low + high) / 2
            below = (1 - share) * NormalDist(first, own).cdf(at) + share * NormalDist(second, own).cdf(at)
            low, high = (at, high) if below < 0.5 else (low, at)
        return (low + high) / 2

    return middle


def _autoregressive(rho: float) -> Callable[[random.Random, float], Iterator[float]]:
    def draw(source: random.Random, cv: float) -> Iterator[float]:
        state = source.gauss(0, 1)
        while True:
            yield 1 + cv * state
            state = rho * state + math.sqrt(1 - rho * rho) * source.gauss(0, 1)

    return draw


NOISES = (
    Noise("normal", _normal, lambda _: 1.0),
    Noise("lognormal", _lognormal, lambda _: 1.0),
    Noise("two modes, 50 to 50", _two_modes(0.5), lambda _: 1.0),
    Noise("two modes, 80 to 20", _two_modes(0.2), _middle_of_modes(0.2)),
    Noise(f"autoregressive, {_RHO}", _autoregressive(_RHO), lambda _: 1.0),
)
STRONG = Noise(f"autoregressive, {_STRONG}", _autoregressive(_STRONG), lambda _: 1.0)
