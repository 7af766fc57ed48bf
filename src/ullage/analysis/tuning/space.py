# SPDX-License-Identifier: Apache-2.0
"""The settings that a search may choose from: every combination of the values of its parameters."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

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
