# SPDX-License-Identifier: Apache-2.0
"""The score of IO500: geometric means of the phases in GiB/s and kIOPS, and the geometric mean of both.

Values are bytes/s and operations/s by the official name of their phase; scores are in the official units.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics import Interval, bootstrap_interval, median
from ullage.model.summary import Score
from ullage.suites.io500.phases import Mode, OfficialPhase, counted_phases

Part: TypeAlias = Literal["bandwidth", "metadata", "total"]
PARTS: Final[dict[Part, str]] = {"bandwidth": "GiB/s", "metadata": "kIOPS", "total": ""}
# With fewer rounds the bootstrap's interval is too narrow, and no interval of a median reaches 95 % either.
_FEWEST_TO_RESAMPLE: Final = 6


@dataclass(frozen=True, slots=True)
class Io500Score:
    """The score and its two halves.

    ``bandwidth`` in GiB/s, ``metadata`` in kIOPS; null where no phase of it ran. ``missing``: those that did not.
    """

    bandwidth: float | None
    metadata: float | None
    total: float | None
    missing: tuple[str, ...] = ()

    def part(self, name: Part) -> float | None:
        """Return one of the three by its name."""
        return {"bandwidth": self.bandwidth, "metadata": self.metadata, "total": self.total}[name]


def score(values: Mapping[str, float], mode: Mode = "standard") -> Io500Score:
    """Compute the score of ``values``; as officially, a phase that is not there is left out of its mean, not zeroed."""
    phases = counted_phases(values, mode)
    bandwidth = _mean(values, [phase for phase in phases if phase.kind == "BW"])
    metadata = _mean(values, [phase for phase in phases if phase.kind == "MD"])
    total = None if bandwidth is None or metadata is None else math.sqrt(bandwidth * metadata)
    missing = tuple(phase.name for phase in phases if phase.name not in values)
    return Io500Score(bandwidth, metadata, total, missing)


def _mean(values: Mapping[str, float], phases: Sequence[OfficialPhase]) -> float | None:
    return geometric_mean([values[phase.name] / phase.factor for phase in phases if phase.name in values])


def geometric_mean(values: Sequence[float]) -> float | None:
    """Compute through logs, so that no product overflows; 0 when one is 0, None without any."""
    if not values:
        return None
    if min(values) <= 0:
        return 0.0
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def score_of_medians(samples: Mapping[str, Sequence[float]], mode: Mode = "standard") -> Io500Score:
    """Compute the score of the medians of each phase's repetitions; a phase without any did not run."""
    return score({name: median(values) for name, values in samples.items() if values}, mode)


def score_interval(
    samples: Mapping[str, Sequence[float]], part: Part = "total", mode: Mode = "standard"
) -> Interval | None:
    """Return how well the score of the medians is known; None with a single repetition or without a score.

    A round, one repetition of every phase, is what is resampled: phases of one round share the machine's weather. Below
    6 rounds there is nothing to resample, and the level reached is 0. Rounds beyond those that every phase has are left
    out.
    """
    kept = {phase.name: samples[phase.name] for phase in counted_phases(samples, mode) if samples.get(phase.name)}
    rounds = min((len(values) for values in kept.values()), default=0)

    def of_rounds(indices: Sequence[float]) -> float:
        picked = {name: [values[int(index)] for index in indices] for name, values in kept.items()}
        return score_of_medians(picked, mode).part(part) or 0.0

    if rounds < 2 or score_of_medians(kept, mode).part(part) is None:
        return None
    indices = [float(index) for index in range(rounds)]
    if rounds >= _FEWEST_TO_RESAMPLE:
        return bootstrap_interval(indices, of_rounds)
    estimate = of_rounds(indices)
    return Interval(estimate, estimate, estimate, 0.0)


def summary_scores(
    samples: Mapping[str, Sequence[float]],
    reasons: Mapping[Mode, Sequence[str]],
    mode: Mode = "standard",
    label: str = "",
) -> list[Score]:
    """Return the scores of a summary, total first, those of the extended mode after the standard ones.

    ``reasons`` say for each mode what voids it, nothing when it is valid; ``label`` goes after the names, to tell runs
    apart. A score of which no phase ran is left out.
    """
    modes: list[Mode] = ["standard", "extended"] if mode == "extended" else ["standard"]
    found: list[Score] = []
    for one in modes:
        for part in ("total", "bandwidth", "metadata"):
            value = score_of_medians(samples, one).part(part)
            if value is None:
                continue
            interval = score_interval(samples, part, one)
            found.append(
                Score(
                    name=score_name(part, one, label),
                    unit=PARTS[part],
                    value=value,
                    low=None if interval is None or interval.below_level else interval.low,
                    high=None if interval is None or interval.below_level else interval.high,
                    valid=not reasons[one],
                    reasons=list(reasons[one]),
                )
            )
    return found


def score_name(part: Part, mode: Mode = "standard", label: str = "") -> str:
    """Name a score: ``IO500``, ``IO500 bandwidth``, ``IO500 extended metadata``; with a label ``IO500 of 160x16``."""
    words = ["IO500", "extended" if mode == "extended" else "", "" if part == "total" else part]
    return " ".join([*filter(None, words), *(["of", label] if label else [])])
