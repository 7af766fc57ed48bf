# SPDX-License-Identifier: Apache-2.0
"""Sets of hints against each other, pattern by pattern. Pure over rows."""

from collections.abc import Iterable
from dataclasses import dataclass

from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.suites.b_eff_io.rows import PATTERN, select

_SET = "hint_set"


@dataclass(frozen=True, slots=True)
class HintRatio:
    """One pattern with a set of hints against the same with the base. ``ratio`` > 1: the set is faster."""

    row: Row
    base: Row

    @property
    def ratio(self) -> float:
        """Of the medians."""
        return self.row.median / self.base.median

    @property
    def hint_set(self) -> str:
        """The name of the set."""
        return str(self.row.params[_SET])


def sets_of(rows: Iterable[Row]) -> list[str]:
    """Names of the sets that rows of patterns have, in their order."""
    return list(dict.fromkeys(str(row.params[_SET]) for row in select(rows, PATTERN)))


def ratios(rows: Iterable[Row], base: str = "") -> list[HintRatio]:
    """Rows of patterns of all other sets against those of ``base``; without a name against the first set."""
    found = select(rows, PATTERN)
    name = base or next(iter(sets_of(found)), "")
    by_place = {_place(row): row for row in found if row.params[_SET] == name}
    return [
        HintRatio(row, against)
        for row in found
        if row.params[_SET] != name and (against := by_place.get(_place(row))) is not None and against.median > 0
    ]


def _place(row: Row) -> tuple[Scalar, ...]:
    return row.target, row.params["ranks"], row.params["access"], row.params["pattern"]
