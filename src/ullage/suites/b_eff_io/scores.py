# SPDX-License-Identifier: Apache-2.0
"""The values of a b_eff_io run as its users quote them: the maximum, then each partition's with its parts. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.settings import first, select
from ullage.model.summary import Row, Score
from ullage.quantity import processes
from ullage.suites.b_eff_io.rows import ACCESS, B_EFF_IO, WRITE_SIDE
from ullage.suites.b_eff_io.values import Spot

# The original counts in 10^6 bytes.
MEGA: Final = 1e6
UNIT: Final = "MB/s"
_B_EFF_IO: Final = "b_eff_io"
_WRITE_SIDE: Final = "W'"
_PARTS: Final = ("write", "rewrite", "read")


@dataclass(frozen=True)
class SpotScores:
    """The scores of one partition.

    ``rows``: of the partition. ``own``: what voids its value, ``whole``: what voids that of all its partitions.
    """

    spot: Spot
    hint_set: str
    rows: Sequence[Row]
    own: Sequence[str]
    whole: Sequence[str]

    @property
    def value(self) -> Row | None:
        """Its b_eff_io."""
        return first(self.rows, B_EFF_IO)


def score_name(what: str, ranks: int | None, hint_set: str = "", target: str = "") -> str:
    """Return a name such as ``b_eff_io of 4 processes with hints frost on scratch``."""
    words = [
        what,
        "" if ranks is None else f"of {processes(ranks)}",
        f"with hints {hint_set}" if hint_set else "",
        f"on {target}" if target else "",
    ]
    return " ".join(filter(None, words))


def best(found: Sequence[SpotScores]) -> SpotScores | None:
    """Return the partition with the largest value, or None where none has one; the first of equals wins."""
    known = [(one.value.median, -index, one) for index, one in enumerate(found) if one.value is not None]
    return max(known, key=lambda item: item[:2])[2] if known else None


def b_eff_io_scores(by_target: Mapping[str, Sequence[SpotScores]]) -> list[Score]:
    """Return the scores of each target.

    First comes the maximum over partitions and hints, then that of each set, then every partition.
    """
    scores: list[Score] = []
    for name, found in by_target.items():
        target = name if len(by_target) > 1 else ""
        sets = list(dict.fromkeys(one.hint_set for one in found))
        scores += _maximum(found, "", target)
        if len(sets) > 1:
            for hint_set in sets:
                scores += _maximum([one for one in found if one.hint_set == hint_set], hint_set, target)
        for one in found:
            scores += _partition(one, one.hint_set if len(sets) > 1 else "", target)
    return scores


def _maximum(found: Sequence[SpotScores], hint_set: str, target: str) -> list[Score]:
    """Return the score of the largest value; whatever voids any of its partitions voids it."""
    top = best(found)
    if top is None or top.value is None:
        return []
    return [_score(score_name(_B_EFF_IO, None, hint_set, target), top.value, top.whole)]


def _partition(one: SpotScores, hint_set: str, target: str) -> list[Score]:
    found = [(_B_EFF_IO, row) for row in select(one.rows, B_EFF_IO)]
    found += [(_WRITE_SIDE, row) for row in select(one.rows, WRITE_SIDE)]
    found += [(f"B_{access}", row) for access in _PARTS for row in select(one.rows, ACCESS, access=access)]
    return [_score(score_name(what, one.spot.ranks, hint_set, target), row, one.own) for what, row in found]


def _score(name: str, row: Row, reasons: Sequence[str]) -> Score:
    return Score(
        name=name,
        unit=UNIT,
        value=row.median / MEGA,
        low=None if row.low is None or row.has_range else row.low / MEGA,
        high=None if row.high is None or row.has_range else row.high / MEGA,
        valid=not reasons,
        reasons=list(reasons),
    )
