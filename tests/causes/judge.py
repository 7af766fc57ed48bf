# SPDX-License-Identifier: Apache-2.0
"""Whether a ladder names a planted cause first, and with the right size. Pure."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from ullage.model.summary import Ladder, Row, Rung, Summary
from ullage.report.headlines import Vessel
from ullage.runs import explained

# A size is right within this share of what was measured without Ullage.
RIGHT: Final = 0.2
Outcome = Literal["named", "wrong size", "another first", "nothing named", "no ladder"]


@dataclass(frozen=True)
class Expected:
    """The rung that a plant has to be: of a ladder of ``part``, of a kind or in words that ``kind`` matches.

    ``of``: parameters of the row whose ladder is asked for, where that is what a program does and not the best number.
    """

    part: str
    kind: str
    of: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True)
class Verdict:
    """``factor``: of the rung that was expected, where there is one; ``first``: what the largest rung says."""

    outcome: Outcome
    factor: float | None = None
    first: str = ""

    @property
    def text(self) -> str:
        """One line for the table."""
        size = "" if self.factor is None else f", {self.factor:.2f} left"
        return f"{self.outcome}{size}{f' ({self.first})' if self.outcome == 'another first' else ''}"


def judge(ladders: Iterable[Ladder], expected: Expected, right: float) -> Verdict:
    """Compare the largest proved rung of the part with what was planted; ``right``: the factor it must have left."""
    found = [ladder for ladder in ladders if ladder.part == expected.part]
    if not found:
        return Verdict("no ladder")
    sure = sorted((rung for ladder in found for rung in ladder.rungs if rung.is_sure), key=lambda rung: rung.factor)
    if not sure:
        return Verdict("nothing named")
    own = next((rung for rung in sure if fits(rung, expected.kind)), None)
    factor = None if own is None else own.factor
    if own is not sure[0]:
        return Verdict("another first", factor, f"{sure[0].kind}, {sure[0].factor:.2f} left")
    return Verdict("named" if abs(math.log(own.factor / right)) <= math.log1p(RIGHT) else "wrong size", factor)


def fits(rung: Rung, kind: str) -> bool:
    """Tell whether a rung is of the kind, or says so in words."""
    return re.search(kind, f"{rung.kind} {rung.what}", re.IGNORECASE) is not None


def ladders_for(summary: Summary, expected: Expected) -> list[Ladder]:
    """Return the ladders of the part, or of the row that is asked for; pure but for the name that it replaces."""
    if not expected.of:
        return summary.ladders
    found = [row for row in summary.rows if expected.of.items() <= {"metric": row.metric, **row.params}.items()]
    kept = explained.vessels
    explained.__dict__["vessels"] = lambda whole: [Vessel(expected.part, "", _same(whole, row)) for row in found]
    try:
        return explained.explained(summary.model_copy(update={"ladders": []})).ladders
    finally:
        explained.__dict__["vessels"] = kept


def _same(whole: Summary, row: Row) -> Row:
    return next(
        one for one in whole.rows if (one.case, one.metric) == (row.case, row.metric) and one.params == row.params
    )
