# SPDX-License-Identifier: Apache-2.0
"""What follows from published times of a simulation that keeps its states, and what does not. Pure.

The time with the states in memory is taken as the time of the computation. All else is exposed I/O.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_PHASES: Final = 2  # every state is written once and read once


@dataclass(frozen=True)
class Span:
    """A value and what rounding of the published times allows."""

    value: float
    low: float
    high: float

    def has(self, other: float) -> bool:
        """Tell whether rounding allows ``other``."""
        return self.low <= other <= self.high


@dataclass(frozen=True)
class Published:
    """One published case. ``seconds``: by what held the states; ``rounding_s``: by which each may be off."""

    name: str
    ranks: int
    files: int
    volume_bytes: float
    nodes: int
    memory_s: float
    rounding_s: float = 50.0

    @property
    def state_bytes(self) -> float:
        """Bytes of a file."""
        return self.volume_bytes / self.files

    @property
    def steps(self) -> float:
        """Files of a rank."""
        return self.files / self.ranks

    @property
    def step_s(self) -> float:
        """Mean computation of a step."""
        return self.memory_s / _PHASES / self.steps

    @property
    def needed_bytes_per_s(self) -> float:
        """What hides the writes behind the computation of the forward phase."""
        return self.volume_bytes / (self.memory_s / _PHASES)

    @property
    def needed_files_per_s(self) -> float:
        """See ``needed_bytes_per_s``."""
        return self.files / (self.memory_s / _PHASES)

    def exposed_s(self, seconds: float) -> Span:
        """Return the exposed I/O of a run of ``seconds``; both times are rounded."""
        exposed = seconds - self.memory_s
        return Span(exposed, exposed - 2 * self.rounding_s, exposed + 2 * self.rounding_s)

    def rate(self, exposed_s: float) -> float:
        """Return the bytes written and read over ``exposed_s``."""
        return _PHASES * self.volume_bytes / exposed_s

    def exposed_with(self, write_rate: float, read_rate: float) -> float:
        """Return the exposed I/O with one pair of rates of every node."""
        each = self.volume_bytes / self.nodes
        return each / write_rate + each / read_rate


def constant_rate_prediction(small: Published, small_s: float, large: Published) -> float:
    """Return the seconds of ``large`` with the rate that ``small`` had in ``small_s``."""
    rate = small.rate(small_s - small.memory_s)
    return large.memory_s + _PHASES * large.volume_bytes / rate


def exponent(small: Published, small_s: float, large: Published, large_s: float) -> float:
    """Return b of rate ~ ranks^b through both cases: two points give two parameters, and nothing is left to test."""
    rates = [case.rate(seconds - case.memory_s) for case, seconds in ((small, small_s), (large, large_s))]
    return math.log(rates[1] / rates[0]) / math.log(large.ranks / small.ranks)


def one_pair_fits(cases: Sequence[tuple[Published, float]], write_rate: float, read_rate: float) -> bool:
    """Tell whether one pair of rates of a node gives every case within the rounding of its times."""
    return all(case.exposed_s(seconds).has(case.exposed_with(write_rate, read_rate)) for case, seconds in cases)


def fitted_pair(cases: Sequence[tuple[Published, float]], read_over_write: float) -> tuple[float, float]:
    """Return the write and read rate of a node that fit the first case, with reads ``read_over_write`` as fast."""
    case, seconds = cases[0]
    write_rate = case.volume_bytes / case.nodes * (1 + 1 / read_over_write) / case.exposed_s(seconds).value
    return write_rate, write_rate * read_over_write
