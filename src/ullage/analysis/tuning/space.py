# SPDX-License-Identifier: Apache-2.0
"""The settings that a search may choose from, and those it begins with before there is a model to ask."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from ullage.arrays import NDArray, np

Setting: TypeAlias = tuple[int, ...]
"""The place of each parameter's value among its values, from 0."""
Settings: TypeAlias = NDArray[np.int64]
"""Holds one setting in each row."""
_MOST_LISTED = 20_000


@dataclass(frozen=True)
class Dimension:
    """A parameter with the texts of its values. ``ordered``: the values rise, so that neighbours are alike."""

    name: str
    values: tuple[str, ...]
    ordered: bool = True


@dataclass(frozen=True)
class Space:
    """All combinations. ``default``: the setting that others are compared with."""

    dimensions: tuple[Dimension, ...]
    default: Setting

    @property
    def size(self) -> int:
        """How many settings there are."""
        return math.prod(len(dimension.values) for dimension in self.dimensions)

    @property
    def is_listed(self) -> bool:
        """Tell whether the candidates are all settings."""
        return self.size <= _MOST_LISTED

    @cached_property
    def candidates(self) -> Settings:
        """All settings; of more than 20,000 as many drawn at random by a fixed seed, the default among them."""
        counts = [len(dimension.values) for dimension in self.dimensions]
        if self.is_listed:
            grid = np.indices(counts).reshape(len(counts), -1).T
            return np.ascontiguousarray(grid, dtype=np.int64)
        draw = np.random.default_rng(0)
        found = np.column_stack([draw.integers(0, count, _MOST_LISTED) for count in counts])
        return np.unique(np.vstack([np.array([self.default]), found]), axis=0)

    def coordinates(self, settings: Settings) -> NDArray[np.float64]:
        """Scale rows of ``settings``: ordered parameters lie between 0 and 1, others keep the place of their value.

        The places of values are equally far apart: people write axes in the steps that they expect to matter.
        """
        last = [max(1, len(one.values) - 1) if one.ordered else 1 for one in self.dimensions]
        return settings / np.array(last, dtype=np.float64)

    def texts(self, setting: Setting) -> dict[str, str]:
        """Return the value of each parameter by its name."""
        return {one.name: one.values[place] for one, place in zip(self.dimensions, setting, strict=True)}

    def setting(self, texts: Sequence[str]) -> Setting:
        """Return the setting with these values; raise ValueError for a value that is none of its parameter."""
        return tuple(one.values.index(text) for one, text in zip(self.dimensions, texts, strict=True))


def setting_of(row: NDArray[np.int64]) -> Setting:
    """Return a row of ``Settings`` as one setting."""
    return tuple(int(value) for value in row)


_TRIES: Final = 30


def middle(space: Space) -> Setting:
    """Return the guess without knowledge: the middle of each ordered parameter, the others as in the default.

    An optimum in the space is nearer to its middle than to its other settings, on average.
    """
    return tuple(
        (len(one.values) - 1) // 2 if one.ordered else place
        for one, place in zip(space.dimensions, space.default, strict=True)
    )


def setting_with(space: Space, known: Mapping[str, str]) -> Setting:
    """Return the middle with the values that are ``known`` of some parameters, by their names."""
    return tuple(
        one.values.index(known[one.name]) if one.name in known else place
        for one, place in zip(space.dimensions, middle(space), strict=True)
    )


def opening(space: Space, most: int, begin: Setting | None = None) -> list[Setting]:
    """Return at most ``most`` settings to begin with: ``begin`` (None: the middle), and beside it other values
    without an order, to which no step along an axis leads. The middle comes last where there is room.
    """
    first = middle(space) if begin is None else begin
    found = [first]
    for place, one in enumerate(space.dimensions):
        if not one.ordered:
            found += [(*first[:place], value, *first[place + 1 :]) for value in range(len(one.values))]
    found.append(middle(space))
    return [setting for setting in dict.fromkeys(found) if setting != space.default][:most]


def near(settings: NDArray[np.int64], center: Setting, steps: int) -> NDArray[np.bool_]:
    """Tell which of ``settings`` are at most ``steps`` places from ``center`` in every parameter."""
    return np.asarray(np.abs(settings - np.array(center)).max(axis=1) <= steps)


def start_settings(space: Space, seed: int) -> list[Setting]:
    """Spread settings over the space: twice as many as parameters, each value of a parameter equally often."""
    draw = np.random.default_rng(seed)
    wanted = min(2 * len(space.dimensions) + 1, space.size - 1)
    best: tuple[float, list[Setting]] = (-1.0, [])
    for _ in range(_TRIES):
        columns = [_parts(draw, len(one.values), wanted) for one in space.dimensions]
        found = list(dict.fromkeys(tuple(int(value) for value in row) for row in np.column_stack(columns)))
        found = [setting for setting in found if setting != space.default]
        apart = _least_distance(space, found)
        best = max(best, (len(found) + apart, found), key=lambda one: one[0])
    return best[1]


def _parts(draw: np.random.Generator, values: int, count: int) -> NDArray[np.int64]:
    """Draw ``count`` places among ``values``, one of each equal part, in random order."""
    parts = (np.arange(count) + draw.random(count)) / count
    return draw.permutation(np.minimum((parts * values).astype(np.int64), values - 1))


def _least_distance(space: Space, settings: Sequence[Setting]) -> float:
    """Return half the least distance (0 to 1) between any two of ``settings``, so below 1; 0 of fewer than two."""
    if len(settings) < 2:
        return 0.0
    points = space.coordinates(np.array(settings))
    apart = np.abs(points[:, None, :] - points[None, :, :]).clip(max=1).mean(axis=2)
    return float(np.min(apart + np.eye(len(settings)))) / 2


def spread(space: Space, seed: int) -> Iterator[Setting]:
    """Go on without end through settings that fill the space evenly however many are taken.

    An additive recurrence by powers of the root of x^(d+1) = x + 1, begun at a random place.
    """
    counts = np.array([len(one.values) for one in space.dimensions])
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (len(counts) + 1))
    steps = root ** -np.arange(1.0, len(counts) + 1)
    at = np.random.default_rng(seed).random(len(counts))
    while True:
        at = (at + steps) % 1.0
        yield tuple(int(value) for value in (at * counts).astype(np.int64))
